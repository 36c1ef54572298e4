"""Things of another owner on a cluster; some names nearly look like ours."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterClientQuotasRequest
from suites.protocol.support.appended import append, batch_of
from tests.sweep.changes import (
    BROKER,
    add_credential,
    alter_config,
    commit_offset,
    subscribe_to_metrics,
)

TOPICS = ("orders", "kc-orders", "kc-sweep-0123456789ab", "kc-6740b1c2-0c3e77d1-1", "orders.kc-")
QUOTAS = ("kc-alice", "kc-6740b1c2-0c3e77d1-1", "alice")


def fill(door: BrokerUnderTest) -> None:
    """Create topics with settings and records; where groups are served, also all other kinds of
    things that a cluster stores.
    """
    for name in TOPICS:
        topic = door.create_topic(2, {"retention.ms": "86400000"}, name)
        for partition in range(2):
            batch = batch_of(*[f"{name} {partition}".encode()] * 3)
            append(door, topic, batch, partition=partition)
    if not can_have_all(door):
        return
    for topic in map(Topic, TOPICS):
        commit_offset(door, topic)
    for name in QUOTAS:
        set_quota(door, ("client-id", name))
        set_quota(door, ("user", name), ("client-id", name))
    set_quota(door, ("client-id", None))
    add_credential(door, Topic("kc-alice"))
    alter_config(door, BROKER, "", "log.cleaner.backoff.ms", "15001")
    subscribe_to_metrics(door, Topic("kc-metrics"))


def can_have_all(door: BrokerUnderTest) -> bool:
    """True if the cluster serves groups, quotas and credentials."""
    needed = ("OffsetCommit", "AlterClientQuotas", "AlterUserScramCredentials")
    return all(door.advertised(api) for api in needed)


def set_quota(door: BrokerUnderTest, *entity: tuple[str, str | None]) -> None:
    """Set a rate for the pairs of type and name."""
    change = AlterClientQuotasRequest
    who = [change.EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    rate = change.OpData(key="producer_byte_rate", value=1e9)
    answer = door.ask(change(entries=[change.EntryData(entity=who, ops=[rate])]))
    assert answer.entries[0].error_code == ErrorCode.NONE, answer

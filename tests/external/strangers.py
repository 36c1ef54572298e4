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


def fill(client: BrokerUnderTest) -> None:
    """Create topics with settings and records; where groups are served, also all other kinds of
    things that a cluster stores.
    """
    for name in TOPICS:
        topic = client.create_topic(2, {"retention.ms": "86400000"}, name)
        for partition in range(2):
            batch = batch_of(*[f"{name} {partition}".encode()] * 3)
            append(client, topic, batch, partition=partition)
    if not can_have_all(client):
        return
    for topic in map(Topic, TOPICS):
        commit_offset(client, topic)
    for name in QUOTAS:
        set_quota(client, ("client-id", name))
        set_quota(client, ("user", name), ("client-id", name))
    set_quota(client, ("client-id", None))
    add_credential(client, Topic("kc-alice"))
    alter_config(client, BROKER, "", "log.cleaner.backoff.ms", "15001")
    subscribe_to_metrics(client, Topic("kc-metrics"))


def can_have_all(client: BrokerUnderTest) -> bool:
    """True if the cluster serves groups, quotas and credentials."""
    needed = ("OffsetCommit", "AlterClientQuotas", "AlterUserScramCredentials")
    return all(client.advertised(api) for api in needed)


def set_quota(client: BrokerUnderTest, *entity: tuple[str, str | None]) -> None:
    """Set a rate for the pairs of type and name."""
    change = AlterClientQuotasRequest
    who = [change.EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    rate = change.OpData(key="producer_byte_rate", value=1e9)
    answer = client.ask(change(entries=[change.EntryData(entity=who, ops=[rate])]))
    assert answer.entries[0].error_code == ErrorCode.NONE, answer

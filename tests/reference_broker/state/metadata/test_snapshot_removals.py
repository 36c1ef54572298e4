"""A snapshot of the metadata removes the effect of records that it does not contain."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from harness.base.ids import BrokerId
from harness.codec import messages
from harness.codec.structs import Message
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.metadata.metadata_fold import MetadataFold
from harness.reference_broker.state.metadata.metadata_image import apply_records
from harness.reference_broker.state.metadata.snapshot_removals import removals
from harness.reference_broker.state.registrations.metadata_records import (
    quota_records,
    topic_records,
)
from tests.reference_broker.made_controller import NOW, MadeController, broker, registered

OLD_ID, NEW_ID = UUID(int=900), UUID(int=901)
OF = registered([1], [1])
USER, DEFAULT = frozenset({("user", "u")}), frozenset({("user", None)})
BROKER = messages.RegisterBrokerRecord(broker_id=3, broker_epoch=30)


def config(kind: int, resource: str, value: str) -> Message:
    name = "metrics" if kind == 16 else "cleanup.policy"
    return messages.ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value)


def folded(records: list[Message]) -> MetadataFold:
    fold = MetadataFold()
    fold.take(records)
    return fold


def quotas(state: BrokerState) -> dict[Any, dict[str, float]]:
    return {entity: dict(values) for entity, values in state.client_quotas.all()}


def topics(state: BrokerState) -> list[tuple[str, UUID]]:
    return sorted((one.name, one.topic_id) for one in state.cluster.topics() if one.name != "t")


Seen = Callable[[BrokerState], Any]
REMOVED: dict[str, tuple[list[Message], Seen, Any]] = {
    "topic": (topic_records("old", OLD_ID, {"retention.ms": "5"}, [OF]), topics, []),
    "broker": ([BROKER], lambda state: state.brokers.get(BrokerId(3)), None),
    "config of a client metrics subscription": (
        [config(16, "subscription", "a")],
        lambda state: dict(state.client_metrics),
        {},
    ),
    "config of all brokers": (
        [config(4, "", "compact")],
        lambda state: state.configs.cluster.get("cleanup.policy"),
        None,
    ),
    "quota": (quota_records(USER, {"producer_byte_rate": 5.0}), quotas, {}),
    "default quota": (quota_records(DEFAULT, {"producer_byte_rate": 5.0}), quotas, {}),
    "feature": (
        [messages.FeatureLevelRecord(name="f", feature_level=2)],
        lambda state: state.features.get("f", 0),
        0,
    ),
    "access control entry": (
        [
            messages.AccessControlEntryRecord(
                id=UUID(int=902),
                resource_type=2,
                resource_name="t",
                pattern_type=3,
                principal="User:u",
                host="*",
                operation=3,
                permission_type=3,
            )
        ],
        lambda state: len(state.acls),
        0,
    ),
    "credential": (
        [
            messages.UserScramCredentialRecord(
                name="u", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"k", iterations=4096
            )
        ],
        lambda state: state.scram_credentials.users(),
        [],
    ),
}


@pytest.mark.parametrize("what", REMOVED)
def test_snapshot_without_record_removes_its_effect(what: str) -> None:
    records, seen, without = REMOVED[what]
    state = MadeController([broker(1)]).state
    apply_records(state, records, NOW)
    assert seen(state) != without
    apply_records(state, removals(folded(records), folded([])), NOW)
    assert seen(state) == without


@pytest.mark.parametrize("what", REMOVED)
def test_snapshot_with_record_removes_nothing(what: str) -> None:
    records, *_ = REMOVED[what]
    assert removals(folded(records), folded(records)) == []


def test_snapshot_with_other_topic_of_same_name_removes_first() -> None:
    old = topic_records("again", OLD_ID, {"retention.ms": "5"}, [OF])
    new = topic_records("again", NEW_ID, {}, [OF])
    state = MadeController([broker(1)]).state
    apply_records(state, old, NOW)
    apply_records(state, [*removals(folded(old), folded(new)), *new], NOW)
    assert topics(state) == [("again", NEW_ID)]
    (topic,) = [one for one in state.cluster.topics() if one.name == "again"]
    assert topic.config.overrides == {}


def test_snapshot_with_one_of_two_quotas_removes_other() -> None:
    both = quota_records(USER, {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0})
    one = quota_records(USER, {"consumer_byte_rate": 7.0})
    state = MadeController([broker(1)]).state
    apply_records(state, both, NOW)
    apply_records(state, [*removals(folded(both), folded(one)), *one], NOW)
    assert quotas(state) == {USER: {"consumer_byte_rate": 7.0}}

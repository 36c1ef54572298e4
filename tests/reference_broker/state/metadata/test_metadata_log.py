"""The controller's log: written records are read back, and give another node the same state."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from harness.base.ids import BrokerId, LeaderEpoch, Offset
from harness.codec import messages
from harness.codec.records.any_format import read_records
from harness.codec.records.control_batch import control_records
from harness.codec.structs import Message
from harness.reference_broker.effects import ReplicaMoved, TopicDeleted
from harness.reference_broker.initial_state import member_state
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.metadata.metadata_batches import MetadataReading, record_batch
from harness.reference_broker.state.metadata.metadata_image import apply_records, begin_replicas
from harness.reference_broker.state.metadata.metadata_log import METADATA_TOPIC_ID
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.state.registrations.metadata_records import (
    config_records,
    partition_records,
    quota_records,
    topic_records,
)
from tests.reference_broker.made_controller import (
    CLUSTER_ID,
    NOW,
    TOPIC_ID,
    MadeController,
    broker,
    only,
    registered,
)

TOPIC = 2
"""A type of resource."""
OF = registered([1, 2], [1, 2])


def written(made: MadeController) -> bytes:
    topic = made.state.cluster.with_id(METADATA_TOPIC_ID)
    assert topic is not None
    return topic.partitions[0].log.read(Offset(0), 1 << 20, at_least_one=True)


def decoded(batches: bytes) -> Iterator[tuple[Offset, list[Message]]]:
    return MetadataReading().records(batches)


def member(number: int = 1) -> BrokerState:
    settings = BrokerSettings.of({"node.id": str(number)})
    state = member_state(settings, Endpoint("localhost", 9), CLUSTER_ID)
    begin_replicas(state, NOW)
    return state


def told(state: BrokerState, *records: Message) -> None:
    apply_records(state, records, NOW)


def partition_at(state: BrokerState) -> Partition:
    topic = state.cluster.with_id(TOPIC_ID)
    assert topic is not None
    return topic.partitions[0]


# -- the log ---------------------------------------------------------------------------------------


def test_each_change_is_written_as_one_batch_with_one_offset_per_record() -> None:
    made = MadeController([])
    made.carry_out(topic_records("t", TOPIC_ID, {"retention.ms": "5"}, [OF, OF]))
    made.carry_out([])
    made.carry_out([messages.RemoveTopicRecord(topic_id=TOPIC_ID)])
    ends = [end for end, _ in decoded(written(made))]
    assert ends == [4, 5]
    assert made.role.log.end_offset == 5


REGISTRATION = messages.RegisterBrokerRecord(
    broker_id=3,
    broker_epoch=30,
    incarnation_id=UUID(int=5),
    end_points=[
        messages.RegisterBrokerRecord.BrokerEndpoint(
            name="PLAINTEXT", host="h", port=9, security_protocol=0
        )
    ],
    rack="r",
    fenced=False,
    log_dirs=[UUID(int=2_000)],
)
CHANGE = messages.BrokerRegistrationChangeRecord
RECORDS: list[Message] = [
    *topic_records("t", TOPIC_ID, {"retention.ms": "5"}, [OF]),
    *partition_records(TOPIC_ID, 1, [registered([1], [], elr=(1,), last_known_elr=(1,))]),
    messages.PartitionChangeRecord(
        topic_id=TOPIC_ID,
        partition_id=0,
        isr=[2],
        leader=2,
        eligible_leader_replicas=[1],
        directories=[UUID(int=1_001), UUID(int=1_002)],
    ),
    REGISTRATION,
    CHANGE(broker_id=3, broker_epoch=30, fenced=1, log_dirs=[UUID(int=3_000)]),
    CHANGE(broker_id=3, broker_epoch=30, in_controlled_shutdown=1),
    messages.UnregisterBrokerRecord(broker_id=3, broker_epoch=30),
    *quota_records(frozenset({("user", "u")}), {"producer_byte_rate": 5.0}),
    messages.FeatureLevelRecord(name="f", feature_level=2),
    messages.ProducerIdsRecord(broker_id=1, broker_epoch=10, next_producer_id=2_000),
    messages.RemoveTopicRecord(topic_id=TOPIC_ID),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: type(one).__name__)
def test_written_metadata_record_is_read_back(record: Message) -> None:
    made = MadeController([])
    made.role.log.append([record], NOW)
    assert [*decoded(written(made))] == [(1, [record])]


def test_leader_epoch_begins_with_leader_change_control_record() -> None:
    made = MadeController([])
    made.carry_out([messages.NoOpRecord()])
    made.role.log.begin_epoch(LeaderEpoch(7), BrokerId(3), NOW)
    made.carry_out([messages.NoOpRecord()])
    assert made.role.log.last_epoch == 7
    _, word, behind = read_records(written(made), limit_bytes=1 << 20).batches
    assert (word.is_control, word.partition_leader_epoch, word.base_offset) == (True, 7, 1)
    (said,) = control_records(word)
    assert said.name == "LEADER_CHANGE"
    assert isinstance(said.message, messages.LeaderChangeMessage)
    assert said.message.leader_id == 3
    assert [one.voter_id for one in said.message.granting_voters] == [3]
    assert (behind.base_offset, behind.partition_leader_epoch) == (2, 7)
    told = [(end, len(records)) for end, records in decoded(written(made))]
    assert told == [(1, 1), (2, 0), (3, 1)]


@pytest.mark.parametrize("ends", [True, False])
def test_metadata_transaction_applies_at_end_and_not_after_abort(ends: bool) -> None:
    """KIP-868: its records may be in several batches; after an abort none of them counts."""
    quota = quota_records(frozenset({("user", "u")}), {"producer_byte_rate": 5.0})
    end = messages.EndTransactionRecord() if ends else messages.AbortTransactionRecord(reason="r")
    reading, noop = MetadataReading(), messages.NoOpRecord()
    pieces: list[list[Message]] = [[messages.BeginTransactionRecord(name="n"), *quota], quota]
    for piece in pieces:
        assert [one for _, one in reading.records(record_batch(piece, NOW))] == [[]]
    ((_, told),) = reading.records(record_batch([end, noop], NOW))
    assert told == ([*quota, *quota, noop] if ends else [noop])


# -- what records do -------------------------------------------------------------------------------


def test_topic_records_create_and_remove_topic() -> None:
    state = member()
    told(state, *topic_records("t", TOPIC_ID, {"retention.ms": "5"}, [OF, OF]))
    topic = state.cluster.named("t")
    assert topic is not None
    assert topic.config.overrides == {"retention.ms": "5"}
    assert [one.registration for one in topic.partitions] == [OF, OF]
    assert ReplicaMoved(TOPIC_ID, topic.partitions[1].index) in state.effects
    told(state, messages.RemoveTopicRecord(topic_id=TOPIC_ID))
    assert state.cluster.named("t") is None
    assert TopicDeleted(TOPIC_ID, 2) in state.effects


@pytest.mark.parametrize(("number", "leads"), [(1, False), (2, True), (3, False)])
def test_partition_change_record_updates_registration_and_leadership(
    number: int, leads: bool
) -> None:
    state = member(number)
    told(state, *topic_records("t", TOPIC_ID, {}, [OF]))
    change = messages.PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, isr=[2], leader=2)
    told(state, change)
    partition = partition_at(state)
    assert partition.registration == OF.changed(change)
    assert (partition.leading is not None) is leads
    assert partition.is_here is (number < 3)


def test_records_read_before_start_begin_no_leadership() -> None:
    settings = BrokerSettings.of({"node.id": "1"})
    state = member_state(settings, Endpoint("localhost", 9), CLUSTER_ID)
    told(state, *topic_records("t", TOPIC_ID, {}, [OF]))
    lost = messages.PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, leader=2)
    partition = partition_at(state)
    assert (partition.leading, partition.epochs.entries) == (None, ())
    told(state, lost)
    begin_replicas(state, NOW)
    assert (partition.leading, partition.epochs.entries) == (None, ())
    assert partition.leader_epoch == OF.leader_epoch + 1


def test_records_of_unknown_topics_change_nothing() -> None:
    state = member()
    told(
        state,
        messages.PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, isr=[2]),
        messages.PartitionRecord(topic_id=TOPIC_ID, partition_id=0),
        messages.RemoveTopicRecord(topic_id=TOPIC_ID),
        messages.NoOpRecord(),
    )
    assert not [*state.cluster.topics()]
    assert state.effects == []


def test_broker_records_register_change_and_unregister_broker() -> None:
    state = member()
    told(state, REGISTRATION)
    known = state.brokers.get(3)
    assert known is not None
    assert (known.epoch, known.rack, known.is_fenced) == (30, "r", False)
    assert known.listeners == {"PLAINTEXT": Endpoint("h", 9)}
    assert state.brokers.is_active(3)
    steps: list[tuple[Any, tuple[bool, bool]]] = [
        (CHANGE(broker_id=3, broker_epoch=29, fenced=1), (False, False)),
        (CHANGE(broker_id=3, broker_epoch=30, fenced=1), (True, False)),
        (CHANGE(broker_id=3, broker_epoch=30, in_controlled_shutdown=1), (True, True)),
        (CHANGE(broker_id=3, broker_epoch=30, fenced=-1), (False, True)),
    ]
    for change, (fenced, going) in steps:
        told(state, change)
        known = state.brokers.get(3)
        assert known is not None
        assert (known.is_fenced, known.is_shutting_down) == (fenced, going)
    told(state, CHANGE(broker_id=3, broker_epoch=30, log_dirs=[UUID(int=3_000)]))
    known = state.brokers.get(3)
    assert known is not None
    assert known.directories == (UUID(int=3_000),)
    told(state, messages.UnregisterBrokerRecord(broker_id=3, broker_epoch=30))
    assert state.brokers.get(3) is None


def test_config_records_set_and_remove_topic_configs() -> None:
    state = member()
    told(state, *topic_records("t", TOPIC_ID, {"retention.ms": "5"}, [OF]))
    told(state, *config_records(TOPIC, "t", {"retention.ms": "5"}, {"retention.bytes": "7"}))
    topic = state.cluster.named("t")
    assert topic is not None
    assert topic.config.overrides == {"retention.bytes": "7"}
    assert topic.partitions[0].config is topic.config


def test_config_records_contain_only_differences() -> None:
    records = config_records(TOPIC, "t", {"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "4"})
    assert [(one.name, one.value) for one in records if isinstance(one, messages.ConfigRecord)] == [
        ("c", None),
        ("b", "4"),
    ]


def test_records_set_quotas_features_and_next_producer_id() -> None:
    state, entity = member(), frozenset({("client-id", "c")})
    told(state, *quota_records(entity, {"producer_byte_rate": 5.0}))
    assert [*state.client_quotas.all()] == [(entity, {"producer_byte_rate": 5.0})]
    told(state, *quota_records(entity, {"producer_byte_rate": None}))
    assert [*state.client_quotas.all()] == []
    told(state, messages.FeatureLevelRecord(name="f", feature_level=2))
    told(state, messages.ProducerIdsRecord(next_producer_id=2_000))
    assert (state.features["f"], state.next_producer_id) == (2, 2_000)


@pytest.mark.parametrize(("topic", "left"), [("t", ()), ("", ()), ("another", (1,))])
def test_clear_elr_record_clears_elr_of_named_topic_or_all(
    topic: str, left: tuple[int, ...]
) -> None:
    state, eligible = member(), registered([1, 2], [2], elr=(1,), last_known_elr=(1,))
    told(state, *topic_records("t", TOPIC_ID, {}, [eligible]))
    told(state, messages.ClearElrRecord(topic_name=topic))
    now = partition_at(state).registration
    assert (now.elr, now.last_known_elr) == (left, left)


def test_written_records_give_broker_same_state_as_controller() -> None:
    made = MadeController([broker(1), broker(2)])
    made.with_partition(OF)
    state = member()
    for _, records in decoded(written(made)):
        told(state, *records)
    assert partition_at(state).registration == made.partition
    assert only(messages.TopicRecord, next(decoded(written(made)))[1]).name == "t"

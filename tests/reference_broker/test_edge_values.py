"""Values that no client should send, and Kafka's answers to them."""

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    DeleteRecordsRequest,
    FetchRequest,
    ListOffsetsRequest,
    ProduceRequest,
)
from harness.codec.records.value_form import records_bytes
from tests.reference_broker.running import Address, create_topic

ONE = {"records": [{"timestamp": 1, "value": "00"}]}
ENDS = ListOffsetsRequest.ListOffsetsPartition


def test_topic_without_partitions_is_absent_from_response(address: Address) -> None:
    produce = ProduceRequest(acks=1, topic_data=[ProduceRequest.TopicProduceData(name="nothing")])
    delete = DeleteRecordsRequest(topics=[DeleteRecordsRequest.DeleteRecordsTopic(name="nothing")])
    with Connection(address) as connection:
        assert connection.ask(produce, 9).responses == []
        assert connection.ask(delete, 2).topics == []


@pytest.mark.parametrize(
    ("epoch", "listed", "fetched"),
    [(-2, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NONE), (-1, ErrorCode.NONE, ErrorCode.NONE)],
)
def test_leader_epoch_below_minus_1_is_fenced_by_list_offsets_only(
    address: Address, epoch: int, listed: ErrorCode, fetched: ErrorCode
) -> None:
    create_topic(address, f"epochs{epoch}")
    part = ENDS(partition_index=0, current_leader_epoch=epoch, timestamp=-1)
    topic = ListOffsetsRequest.ListOffsetsTopic(name=f"epochs{epoch}", partitions=[part])
    with Connection(address) as connection:
        ends = connection.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 4)
        records = connection.ask(fetch(f"epochs{epoch}", current_leader_epoch=epoch), 12)
    assert ends.topics[0].partitions[0].error_code == listed
    assert records.responses[0].partitions[0].error_code == fetched


def test_unknown_isolation_level_returns_unknown_server_error(address: Address) -> None:
    create_topic(address, "isolated")
    part = ENDS(partition_index=0, timestamp=-1)
    topic = ListOffsetsRequest.ListOffsetsTopic(name="isolated", partitions=[part, part])
    request = ListOffsetsRequest(replica_id=-1, isolation_level=2, topics=[topic])
    with Connection(address) as connection:
        ends = connection.ask(request, 4)
        records = connection.ask(fetch("isolated", isolation_level=2), 12)
        unknown = connection.ask(fetch("nothing", isolation_level=2), 12)
    codes = [one.error_code for one in ends.topics[0].partitions]
    assert codes == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2
    assert records.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert records.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert unknown.error_code == ErrorCode.NONE


def test_produce_to_repeated_partition_returns_error_and_appends_valid_batch(
    address: Address,
) -> None:
    create_topic(address, "twice")
    data = [
        ProduceRequest.PartitionProduceData(index=0, records=records_bytes([{"magic": m, **ONE}]))
        for m in (1, 2)
    ]
    topic = ProduceRequest.TopicProduceData(name="twice", partition_data=data)
    with Connection(address) as connection:
        answer = connection.ask(ProduceRequest(acks=1, topic_data=[topic]), 9)
        records = connection.ask(fetch("twice"), 12)
    (told,) = answer.responses[0].partition_responses
    assert told.error_code == ErrorCode.INVALID_RECORD
    assert records.responses[0].partitions[0].high_watermark == 1


def test_null_data_before_a_batch_for_the_same_partition_count_for_nothing(
    address: Address,
) -> None:
    create_topic(address, "null")
    good = records_bytes([{"magic": 2, **ONE}])
    data = [
        ProduceRequest.PartitionProduceData(index=0, records=records) for records in (None, good)
    ]
    topic = ProduceRequest.TopicProduceData(name="null", partition_data=data)
    with Connection(address) as connection:
        answer = connection.ask(ProduceRequest(acks=1, topic_data=[topic]), 9)
    (told,) = answer.responses[0].partition_responses
    assert (told.error_code, told.base_offset) == (ErrorCode.NONE, 0)


def test_repeated_quota_entity_type_uses_last_name(address: Address) -> None:
    part, quota = AlterClientQuotasRequest.EntityData, AlterClientQuotasRequest.OpData
    entry = AlterClientQuotasRequest.EntryData(
        entity=[part(entity_type="user", entity_name=name) for name in ("first", "last")],
        ops=[quota(key="producer_byte_rate", remove=True)],
    )
    with Connection(address) as connection:
        answer = connection.ask(AlterClientQuotasRequest(entries=[entry], validate_only=True), 1)
    assert [(one.entity_type, one.entity_name) for one in answer.entries[0].entity] == [
        ("user", "last")
    ]
    assert answer.entries[0].error_code == ErrorCode.NONE


def test_fetch_with_negative_max_bytes_fails_only_with_records(address: Address) -> None:
    create_topic(address, "starved")
    request = fetch("starved", max_bytes=-1)
    data = ProduceRequest.PartitionProduceData(
        index=0, records=records_bytes([{"magic": 2, **ONE}])
    )
    topic = ProduceRequest.TopicProduceData(name="starved", partition_data=[data])
    with Connection(address) as connection:
        empty = connection.ask(request, 12)
        connection.ask(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), 9)
        full = connection.ask(request, 12)
    assert empty.responses[0].partitions[0].error_code == ErrorCode.NONE
    assert full.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def fetch(
    topic: str, isolation_level: int = 0, current_leader_epoch: int = -1, max_bytes: int = 1000
) -> FetchRequest:
    """A Fetch of partition 0, without a wait, outside of a session."""
    part = FetchRequest.FetchPartition(
        partition=0, current_leader_epoch=current_leader_epoch, partition_max_bytes=max_bytes
    )
    return FetchRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[FetchRequest.FetchTopic(topic=topic, partitions=[part])],
    )

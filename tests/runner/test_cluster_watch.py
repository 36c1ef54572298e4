"""Answers of a cluster's brokers, and the requirement that each contradiction in them breaks."""

from __future__ import annotations

from uuid import UUID

from harness.client.requests import LATEST
from harness.codec.messages import (
    DeleteTopicsRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataResponse,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.catalogue import load_catalogue
from harness.runner.cluster_watch import PROMISES, ClusterWatch

T = UUID(int=7)


def metadata(
    leader: int = 1, epoch: int = 0, isr: tuple[int, ...] = (1, 2), error: int = 0
) -> MetadataResponse:
    told = MetadataResponse.MetadataResponsePartition(
        error_code=error,
        leader_id=leader,
        leader_epoch=epoch,
        isr_nodes=list(isr),
        replica_nodes=[1, 2, 3],
    )
    topic = MetadataResponse.MetadataResponseTopic(name="t", topic_id=T, partitions=[told])
    return MetadataResponse(topics=[topic])


def nameless(answer: MetadataResponse) -> MetadataResponse:
    """Return the answer without topic ids, as in versions before them."""
    answer.topics[0].topic_id = UUID(int=0)
    return answer


def fetched(high_watermark: int, records: int = 0, *, error: int = 0) -> FetchResponse:
    batch = encode_batch(RecordBatch([Record(b"r")] * records)) if records else b""
    told = FetchResponse.PartitionData(
        error_code=error,
        high_watermark=high_watermark,
        last_stable_offset=high_watermark,
        log_start_offset=0,
        records=batch,
    )
    return FetchResponse(
        responses=[FetchResponse.FetchableTopicResponse(topic_id=T, partitions=[told])]
    )


def question(timestamp: int = LATEST) -> ListOffsetsRequest:
    asked = ListOffsetsRequest.ListOffsetsPartition(timestamp=timestamp)
    return ListOffsetsRequest(
        topics=[ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[asked])]
    )


def listed(offset: int) -> ListOffsetsResponse:
    told = ListOffsetsResponse.ListOffsetsPartitionResponse(offset=offset)
    return ListOffsetsResponse(
        topics=[ListOffsetsResponse.ListOffsetsTopicResponse(name="t", partitions=[told])]
    )


def test_every_promise_is_must_requirement_of_catalogue() -> None:
    catalogue = load_catalogue()
    assert all(catalogue.requirement(name).level == "MUST" for name in PROMISES.values())


def test_sound_responses_break_no_requirement() -> None:
    watch = ClusterWatch()
    one, two = watch.at(1, "a"), watch.at(2, "b")
    for message in (metadata(), fetched(3, 3), question(), listed(3), metadata()):
        one(message, 10)
    two(metadata(leader=2, epoch=1), 10)
    assert watch.broken() == {}


def test_two_leaders_in_one_epoch_break_repl_022() -> None:
    watch = ClusterWatch()
    watch.at(1, "a")(metadata(), 10)
    watch.at(2, "b")(metadata(leader=2), 10)
    (told,) = watch.broken().items()
    assert told[0] == "REPL-022"
    assert "two brokers lead in one epoch: in epoch 0: 1 by 1, 2 by 2" in told[1]


def test_isr_with_unknown_broker_and_without_leader_breaks_requirements() -> None:
    watch = ClusterWatch()
    watch.at(1, "a")(metadata(isr=(2, 4)), 10)
    assert set(watch.broken()) == {"ISR-008", "META-013"}
    assert set(watch.broken(with_zookeeper=True)) == {"ISR-008"}


def test_read_above_later_high_watermark_breaks_fetch_003() -> None:
    watch = ClusterWatch()
    client = watch.at(1, "a")
    for message in (metadata(), fetched(2, 3), metadata()):
        client(message, 13)
    assert not watch.broken()
    for message in (fetched(2), metadata()):
        client(message, 13)
    assert set(watch.broken()) == {"FETCH-003"}


def test_high_watermark_falling_in_list_offsets_breaks_fetch_003() -> None:
    watch = ClusterWatch()
    client = watch.at(1, "a")
    for message in (metadata(), fetched(3), question(), listed(2), metadata()):
        client(message, 10)
    assert set(watch.broken()) == {"FETCH-003"}


def test_list_offsets_of_other_timestamp_is_not_compared() -> None:
    watch = ClusterWatch()
    client = watch.at(1, "a")
    for message in (metadata(), fetched(3), question(-2), listed(0), metadata()):
        client(message, 10)
    assert watch.broken() == {}


def test_responses_with_error_code_are_ignored() -> None:
    watch = ClusterWatch()
    client = watch.at(1, "a")
    for message in (metadata(isr=(4,), error=5), fetched(-1, error=6)):
        client(message, 10)
    assert watch.broken() == {}


def test_leader_epoch_may_fall_after_topic_deletion_without_topic_id() -> None:
    watch = ClusterWatch()
    one, two = watch.at(1, "a"), watch.at(2, "b")
    one(nameless(metadata(epoch=4)), 8)
    two(DeleteTopicsRequest(topic_names=["t"]), 5)
    one(nameless(metadata(epoch=0)), 8)
    assert watch.broken() == {}
    one(metadata(epoch=3), 10)
    one(metadata(epoch=2), 10)
    assert set(watch.broken()) == {"META-021"}

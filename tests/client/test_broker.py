"""The methods of a broker under test that work without a broker."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

import pytest

from harness.client import broker as broker_module
from harness.client.broker import ApiNotAdvertised, BrokerUnderTest, PreparationFailed
from harness.client.errors import BrokerMisbehaved, ConnectionClosed, ResponseTimeout, WireViolation
from harness.client.older_forms import records_for
from harness.codec import UnknownApiError
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.messages import (
    ApiVersionsResponse,
    CreateTopicsResponse,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
)
from harness.codec.records import Record, RecordBatch, decode_message_set, encode_batch
from tests.client.scripted import Peer, scripted

NOWHERE = ("127.0.0.1", 1)


def broker(address: tuple[str, int] = NOWHERE, time_scale: float = 1.0) -> BrokerUnderTest:
    versions = {0: (3, 12), 1: (4, 99), 3: (0, 9), 18: (0, 4), 19: (2, 2)}
    return BrokerUnderTest([address], versions, time_scale=time_scale, name_prefix="p", seed="s")


def test_version_returns_highest_common_version() -> None:
    assert broker().version("Produce") == 12
    assert broker().version("Fetch") == 18
    assert broker().version("Fetch", "4-11") == 11
    assert broker().version("Metadata", "3") == 3


@pytest.mark.parametrize(
    ("api", "wanted", "said"),
    [
        ("Produce", "13+", r"Produce 13\+ is needed, advertised is 3-12"),
        ("Produce", "0-2", "Produce 0-2 is needed, advertised is 3-12"),
        ("DeleteTopics", "0+", r"DeleteTopics 0\+ is needed, advertised is none"),
    ],
)
def test_unadvertised_version_raises_api_not_advertised(api: str, wanted: str, said: str) -> None:
    with pytest.raises(ApiNotAdvertised, match=said) as caught:
        broker().version(api, wanted)
    assert not isinstance(caught.value, BrokerMisbehaved)


def test_version_with_unknown_api_or_bad_range_raises_error() -> None:
    with pytest.raises(UnknownApiError, match="no API 'Fetsh'"):
        broker().version("Fetsh")
    with pytest.raises(ValueError, match="not a version range"):
        broker().version("Fetch", ">3")


def test_unique_topics_are_numbered_and_random_is_seeded() -> None:
    one = broker()
    assert [one.unique_topic(), one.unique_topic()] == ["p-1", "p-2"]
    assert one.random.random() == broker().random.random()


@pytest.mark.parametrize(("asked_ms", "timeout_ms"), [(None, 60_000), (500, 1_000)])
def test_default_timeout_of_answer_is_longer_on_busy_machine(
    monkeypatch: pytest.MonkeyPatch, asked_ms: float | None, timeout_ms: float
) -> None:
    monkeypatch.setattr(broker_module, "patience", lambda: 3)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = broker(listener.getsockname(), time_scale=2.0)
        assert client.connect(timeout_ms=asked_ms).timeout_ms == timeout_ms
        client.hang_up()


def test_eventually_returns_first_true_result() -> None:
    answers = iter([None, 0, "", "yes", "later"])
    assert broker().eventually(lambda: next(answers), "an answer") == "yes"
    assert next(answers) == "later"


def test_eventually_calls_at_least_once_and_names_missing_condition() -> None:
    asked = []
    with pytest.raises(ResponseTimeout, match="not within 0 ms: the moon is full"):
        broker().eventually(lambda: asked.append(1), "the moon is full", within_ms=0)
    assert asked


def test_eventually_extends_deadline_by_time_scale() -> None:
    with pytest.raises(ResponseTimeout, match="not within 60 ms: it"):
        broker(time_scale=3.0).eventually(lambda: None, "it", within_ms=20)


def test_eventually_propagates_errors() -> None:
    with pytest.raises(ZeroDivisionError):
        broker().eventually(lambda: 1 // 0, "a number")


def test_unreachable_broker_is_not_alive_and_request_raises_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    assert not broker(address).is_alive()
    with pytest.raises(ConnectionClosed):
        broker(address).ask(MetadataRequest())


def test_broker_that_returns_api_versions_is_alive() -> None:
    def script(peer: Peer) -> None:
        peer.answer(ApiVersionsResponse(), 0, peer.read_request()[0])

    with scripted(script) as address:
        assert broker(address).is_alive()


def test_is_alive_without_api_versions_sends_metadata_of_no_topics() -> None:
    asked = []

    def script(peer: Peer) -> None:
        correlation_id, request = peer.read_request()
        asked.append(request)
        peer.answer(MetadataResponse(), 0, correlation_id)

    with scripted(script) as address:
        assert BrokerUnderTest([address], {3: (0, 0)}).is_alive()
    assert asked == [MetadataRequest(topics=[])], "of all topics: a name could make one"


class Maker:
    """Records the arguments of its calls."""

    def __init__(self) -> None:
        self.made: list[tuple[str, int, dict[str, str], int | None]] = []
        self.deleted: list[str] = []

    def make(
        self, name: str, partitions: int, configs: Mapping[str, str], *, node: int | None = None
    ) -> None:
        self.made.append((name, partitions, dict(configs), node))

    def delete(self, names: Sequence[str]) -> None:
        self.deleted += names


def test_topic_maker_creates_and_deletes_topic_without_create_topics() -> None:
    """Metadata first shows no leader; ListOffsets version 0 then returns the log end offset."""
    maker = Maker()

    def script(peer: Peer) -> None:
        for leader in (-1, 1):
            response = made_by_metadata(1)
            response.topics[0].partitions[0].leader_id = leader
            peer.answer(response, 0, peer.read_request()[0])
        for _ in range(2):
            entry = ListOffsetsResponse.ListOffsetsPartitionResponse(old_style_offsets=[7, 0])
            topic = ListOffsetsResponse.ListOffsetsTopicResponse(name="p-1", partitions=[entry])
            peer.answer(ListOffsetsResponse(topics=[topic]), 0, peer.read_request()[0])
        peer.read_to_end()

    with scripted(script) as address:
        versions = {2: (0, 0), 3: (0, 0)}
        target = BrokerUnderTest([address], versions, name_prefix="p", topic_maker=maker)
        topic = target.create_topic(configs={"segment.bytes": "1"})
        assert target.end_offset(topic) == 7
        target.close()
    assert maker.made == [("p-1", 1, {"segment.bytes": "1"}, None)]
    assert maker.deleted == ["p-1"]


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 2)])
def test_prepared_records_have_magic_of_produce_version(version: int, magic: int) -> None:
    batch = encode_batch(RecordBatch([Record(b"one"), Record(b"two")]))
    records = records_for(version, batch)
    assert records is not None
    assert records[16] == magic
    assert records_for(version, None) is None
    if magic < 2:
        assert [each.value for each in decode_message_set(records)] == [b"one", b"two"]


def test_zstd_records_for_old_produce_raise_api_not_advertised() -> None:
    batch = encode_batch(RecordBatch([Record(b"one")]), "zstd")
    with pytest.raises(ApiNotAdvertised, match=r"Produce 3\+ is needed: .*zstd"):
        records_for(2, batch)


def test_a_broken_shared_connection_is_replaced() -> None:
    def script(peer: Peer) -> None:
        peer.answer(MetadataResponse(controller_id=4), 9, peer.read_request()[0])

    target = broker()
    for _ in range(2):
        with scripted(script) as address:
            target.addresses[0] = address
            assert target.ask(MetadataRequest()).controller_id == 4
            with pytest.raises(ConnectionClosed):
                target.ask(MetadataRequest())
    assert len(target.transcripts) == 2
    target.close()


def test_refused_topic_creation_raises_preparation_failed() -> None:
    def script(peer: Peer) -> None:
        result = CreateTopicsResponse.CreatableTopicResult(name="p-1", error_code=17)
        peer.answer(CreateTopicsResponse(topics=[result]), 2, peer.read_request()[0])
        peer.read_to_end()

    with scripted(script) as address:
        target = broker(address)
        with pytest.raises(PreparationFailed, match=r"CreateTopics p-1: .*INVALID_TOPIC_EXCEPTION"):
            target.create_topic()
        target.close()


def made_by_metadata(partitions: int) -> MetadataResponse:
    topic = MetadataResponse.MetadataResponseTopic(
        name="p-1",
        partitions=[
            MetadataResponse.MetadataResponsePartition(partition_index=index)
            for index in range(partitions)
        ],
    )
    return MetadataResponse(topics=[topic])


def without_create_topics(address: tuple[str, int]) -> BrokerUnderTest:
    return BrokerUnderTest([address], {2: (1, 7), 3: (0, 9)}, name_prefix="p", seed="s")


def test_topic_is_auto_created_by_metadata_without_create_topics() -> None:
    asked = []

    def script(peer: Peer) -> None:
        for code in (5, 0):  # LEADER_NOT_AVAILABLE at first, as on a real broker
            correlation_id, request = peer.read_request()
            asked.append(request)
            response = made_by_metadata(3)
            response.topics[0].error_code = code
            peer.answer(response, 9, correlation_id)
        for index in range(2):
            correlation_id, _ = peer.read_request()
            entry = ListOffsetsResponse.ListOffsetsPartitionResponse(partition_index=index)
            topic = ListOffsetsResponse.ListOffsetsTopicResponse(name="p-1", partitions=[entry])
            peer.answer(ListOffsetsResponse(topics=[topic]), 7, correlation_id)
        peer.read_to_end()

    with scripted(script) as address:
        target = without_create_topics(address)
        assert target.create_topic(partitions=2).name == "p-1"
        target.close()
    wanted = MetadataRequest.MetadataRequestTopic(name="p-1")
    assert asked == [MetadataRequest(topics=[wanted], allow_auto_topic_creation=True)] * 2


def test_auto_creation_of_too_few_partitions_raises_api_not_advertised() -> None:
    def script(peer: Peer) -> None:
        peer.answer(made_by_metadata(1), 9, peer.read_request()[0])
        peer.read_to_end()

    with scripted(script) as address:
        target = without_create_topics(address)
        with pytest.raises(ApiNotAdvertised, match="for 2 partitions; auto-creation made 1"):
            target.create_topic(partitions=2)
        target.close()


def test_auto_creation_with_configs_raises_api_not_advertised() -> None:
    with pytest.raises(ApiNotAdvertised, match="a topic with settings of its own"):
        without_create_topics(NOWHERE).create_topic(configs={"retention.ms": "1"})


def test_trailing_bytes_are_tolerated_only_without_explicit_version() -> None:
    def script(peer: Peer) -> None:
        for _ in range(2):
            correlation_id, _ = peer.read_request()
            answer = encode_response(MetadataResponse(controller_id=4), 9, correlation_id)
            peer.send(frame(answer + b"\0"))

    with scripted(script) as address:
        target = broker(address)
        assert target.metadata([]).controller_id == 4
        with pytest.raises(WireViolation, match="1 bytes left over"):
            target.metadata([], 9)
        target.close()

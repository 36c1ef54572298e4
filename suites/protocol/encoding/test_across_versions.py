"""ENC: the same question at every version, and APIs that never became flexible."""

from __future__ import annotations

from collections.abc import Iterator

from harness.client.broker import BrokerUnderTest
from harness.client.requests import (
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
)
from harness.codec.definition import FieldSpec
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeClusterRequest, FetchResponse, MetadataRequest
from harness.codec.structs import Struct
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.plain_bytes import array, ask_plainly, int32, string

# In a cluster of several brokers these may differ from one question to the next.
CHANGING = frozenset({"throttle_time_ms", "controller_id"})


def _filled(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic(partitions=2)
    answer = broker.produce(topic, batch_of(b"the same at every version"))
    expect_error(answer.error_code, ErrorCode.NONE, where="the preparation")
    return topic


# -- ENC-011: one question, every version ----------------------------------------------------------


def _shared_fields(struct: Struct, versions: tuple[int, int]) -> list[FieldSpec]:
    """The fields that both versions have."""
    return [
        spec
        for spec in struct.spec.fields
        if all(version in spec.versions for version in versions) and spec.name not in CHANGING
    ]


def _differences(
    old: Struct, new: Struct, versions: tuple[int, int], where: str = ""
) -> Iterator[str]:
    """Yield the differences between the fields that both versions have."""
    for spec in _shared_fields(old, versions):
        place = f"{where}{spec.name}"
        one, other = getattr(old, spec.name), getattr(new, spec.name)
        if isinstance(one, Struct) and isinstance(other, Struct):
            yield from _differences(one, other, versions, f"{place}.")
        elif spec.struct is None or one is None or other is None:
            if one != other:
                yield f"{place} is {one!r} at v{versions[0]}, {other!r} at v{versions[1]}"
        else:
            yield from _differences_of_lists(one, other, versions, place)


def _differences_of_lists(
    old: list[Struct], new: list[Struct], versions: tuple[int, int], where: str
) -> Iterator[str]:
    if len(old) != len(new):
        yield f"{where} has {len(old)} elements at v{versions[0]}, {len(new)} at v{versions[1]}"
        return

    def place(element: Struct) -> tuple[str, ...]:
        fields = _shared_fields(element, versions)
        return tuple(repr(getattr(element, spec.name)) for spec in fields if spec.struct is None)

    pairs = zip(sorted(old, key=place), sorted(new, key=place), strict=True)
    for position, (one, other) in enumerate(pairs):
        yield from _differences(one, other, versions, f"{where}[{position}].")


def _expect_same(old: Struct, new: Struct, version: int, newest: int) -> None:
    differences = list(_differences(old, new, (version, newest)))
    assert not differences, "; ".join(differences)


@judges("ENC-011")
@at_versions("Metadata")
def test_metadata_returns_same_values_at_each_version(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A version has the same brokers and topics as the newest one; no bytes are left over."""
    newest = broker.version("Metadata")
    topics = [MetadataRequest.MetadataRequestTopic(name=kept.topic(broker, _filled).name)]
    expected = broker.ask(MetadataRequest(topics=topics), newest, tolerant=True)
    with requirement("ENC-011"):
        _expect_same(
            broker.ask(MetadataRequest(topics=topics), api_version), expected, api_version, newest
        )


@judges("ENC-011")
@at_versions("ListOffsets", "1+")
def test_list_offsets_returns_same_values_at_each_version(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The end of a log has the same offset, with and without a leader epoch in the response."""
    newest = broker.version("ListOffsets")
    request = list_offsets_request(kept.topic(broker, _filled), LATEST)
    expected = broker.ask(request, newest)
    with requirement("ENC-011"):
        _expect_same(broker.ask(request, api_version), expected, api_version, newest)


@judges("ENC-011")
@at_versions("Fetch", "4+")
def test_fetch_returns_same_values_at_each_version(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The same records, the same offsets."""
    topic = kept.topic(broker, _filled)
    newest = broker.reading_version(topic)
    expected = _fetched(broker, topic, newest)
    with requirement("ENC-011"):
        _expect_same(_fetched(broker, topic, api_version), expected, api_version, newest)


def _fetched(broker: BrokerUnderTest, topic: Topic, version: int) -> FetchResponse:
    request = fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])
    return broker.ask(request, version)


@judges("ENC-011")
@at_versions("DescribeCluster")
def test_describe_cluster_returns_same_values_at_each_version(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The response has the same brokers, with and without an endpoint type."""
    newest = broker.version("DescribeCluster")
    expected = broker.ask(DescribeClusterRequest(), newest)
    with requirement("ENC-011"):
        answer = broker.ask(DescribeClusterRequest(), api_version)
        _expect_same(answer, expected, api_version, newest)


# -- ENC-014: APIs that never became flexible ------------------------------------------------------


@judges("ENC-014")
@at_versions("SaslHandshake")
def test_sasl_handshake_response_has_no_tagged_fields(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Correlation id, error code, array of mechanisms, and nothing more."""
    with requirement("ENC-014"):
        reader = ask_plainly(broker, "SaslHandshake", api_version, string("PLAIN"), "ENC-014")
        reader.int16()  # error code: whether SASL is done here is not the question
        reader.array(reader.string)
        reader.end()


@judges("ENC-014")
@at_versions("OffsetDelete")
def test_offset_delete_response_has_no_tagged_fields(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A group that does not exist: error code, throttle time, array of topics, nothing more."""
    group, topic = string(broker.unique_topic()), string(broker.unique_topic())
    with requirement("ENC-014"):
        body = group + array(topic + array(int32(0)))
        reader = ask_plainly(broker, "OffsetDelete", api_version, body, "ENC-014")
        code = reader.int16()
        reader.int32()  # throttle time
        reader.array(
            lambda: (
                reader.string(),
                reader.array(lambda: (reader.int32(), reader.int16())),
            )
        )
        reader.end()
        assert code != ErrorCode.NONE, "offsets of a group that does not exist were deleted"

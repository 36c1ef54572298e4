"""ENC: unsigned varints of six bytes and of five, sizes of tags, null and empty compact strings."""

from __future__ import annotations

from functools import partial

import pytest

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_request
from harness.codec.messages import InitProducerIdRequest, MetadataRequest
from harness.codec.varint import encode_uvarint
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error

UNKNOWN_TAG, CORRELATION_ID = 9999, 7
TAG, SIZE = encode_uvarint(UNKNOWN_TAG), encode_uvarint(1)
DATA = b"x"
PLACES = pytest.mark.parametrize("place", ["header", "topic", "request"])


def _with_tag(version: int, place: str, name: str, written: bytes) -> bytes:
    """Return a Metadata request with one tagged field in this place, which is written so."""
    tags = {place: {UNKNOWN_TAG: DATA}}
    topic = MetadataRequest.MetadataRequestTopic(
        name=name, unknown_tagged_fields=tags.get("topic", {})
    )
    request = MetadataRequest(
        topics=[topic],
        allow_auto_topic_creation=False,
        unknown_tagged_fields=tags.get("request", {}),
    )
    header_tags = tags.get("header", {})
    payload = encode_request(request, version, CORRELATION_ID, "kc", header_tags)
    before, after = payload.split(TAG + SIZE + DATA)
    return before + written + after


def _in_bytes(number: int, count: int) -> bytes:
    """Return the unsigned varint of the number, in so many bytes."""
    digits = [number >> (7 * place) & 0x7F for place in range(count)]
    return bytes(digit | 0x80 for digit in digits[:-1]) + bytes(digits[-1:])


def _long_forms(count: int) -> dict[str, bytes]:
    """Return a tagged field whose tag, and one whose size, has so many bytes."""
    return {
        "tag": _in_bytes(UNKNOWN_TAG, count) + SIZE + DATA,
        "size": TAG + _in_bytes(1, count) + DATA,
    }


@judges("ENC-012")
@at_versions("Metadata", "9+")
@PLACES
def test_tag_or_size_of_six_bytes_closes_connection_and_of_five_is_read(
    broker: BrokerUnderTest, api_version: int, place: str
) -> None:
    """Both are small numbers behind zeros: five bytes are answered, six are not."""
    name = broker.unique_topic()
    with requirement("ENC-012") as check:
        for which, written in _long_forms(5).items():
            with check.subtest(f"{which} of 5 bytes"), broker.connect() as connection:
                connection.send_frame(_with_tag(api_version, place, name, written))
                answer = connection.receive_frame()
                assert name.encode() in answer, f"{which} of 5 bytes: the answer has no {name}"
        for which, written in _long_forms(6).items():
            with check.subtest(f"{which} of 6 bytes"), broker.connect() as connection:
                connection.send_frame(_with_tag(api_version, place, name, written))
                connection.expect_closed()


@judges("ENC-010")
@at_versions("Metadata", "9+")
@PLACES
def test_size_of_tag_beyond_frame_closes_connection(
    broker: BrokerUnderTest, api_version: int, place: str
) -> None:
    """In the header, in a topic and behind the request: more than the rest of the frame, by far."""
    written = TAG + encode_uvarint(2**31 - 1) + DATA
    connection = broker.connect()
    with requirement("ENC-010"):
        connection.send_frame(_with_tag(api_version, place, broker.unique_topic(), written))
        connection.expect_closed()


@judges("ENC-005")
@at_versions("InitProducerId", "2+")
def test_init_producer_id_distinguishes_null_from_empty_compact_string(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The length byte 0 stands for no transactional id; 1 for an empty one, which is refused."""
    with requirement("ENC-005") as check:
        for written, expected in ((None, ErrorCode.NONE), ("", ErrorCode.INVALID_REQUEST)):
            with check.subtest(f"transactional id {written!r}"):
                # A broker without a block of producer ids asks the controller for one first.
                code = broker.last_seen(
                    partial(_code_of_init, broker, api_version, written),
                    lambda code: code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                )
                expect_error(code, expected, f"transactional id {written!r}")


def _code_of_init(broker: BrokerUnderTest, version: int, transactional_id: str | None) -> int:
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=60_000
    )
    return broker.ask(request, version).error_code

"""Vectors written by hand from the protocol guide: each line is one field."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.codec import decode, encode
from harness.codec.apis import api_named
from harness.codec.header import (
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    RequestHeader,
    ResponseHeader,
)
from harness.codec.structs import Message

Lines = list[tuple[str, str]]


def raw(lines: Lines) -> bytes:
    return b"".join(bytes.fromhex(digits) for digits, _ in lines)


API_VERSIONS_REQUEST_V3: Lines = [
    ("04 61 62 63", "client_software_name: compact string, 3 + 1, 'abc'"),
    ("02 31", "client_software_version: '1'"),
    ("00", "no tagged fields"),
]
API_VERSIONS_RESPONSE_V0: Lines = [
    ("00 23", "error_code 35, UNSUPPORTED_VERSION"),
    ("00 00 00 02", "two api keys"),
    ("00 12 00 00 00 04", "api_key 18, min 0, max 4"),
    ("00 00 00 03 00 0c", "api_key 0, min 3, max 12"),
]
API_VERSIONS_RESPONSE_V3: Lines = [
    ("00 00", "error_code"),
    ("02", "one api key: compact count, 1 + 1"),
    ("00 12 00 00 00 04 00", "api_key 18, min 0, max 4, no tagged fields"),
    ("00 00 00 0a", "throttle_time_ms 10"),
    ("02", "two tagged fields"),
    ("00 0e", "tag 0, supported_features, 14 bytes"),
    ("02", "one feature"),
    ("08 6d 65 74 61 2e 76 31", "name 'meta.v1'"),
    ("00 01 00 02", "min_version 1, max_version 2"),
    ("00", "no tagged fields (feature)"),
    ("01 08", "tag 1, finalized_features_epoch, 8 bytes"),
    ("00 00 00 00 00 00 00 09", "9"),
]
METADATA_REQUEST_V1: Lines = [
    ("00 00 00 02", "two topics"),
    ("00 01 61", "name 'a'"),
    ("00 02 c3 a9", "name 'é': its length counts bytes"),
]
METADATA_RESPONSE_V1: Lines = [
    ("00 00 00 01", "one broker"),
    ("00 00 00 05", "node_id 5"),
    ("00 01 68", "host 'h'"),
    ("00 00 23 84", "port 9092"),
    ("ff ff", "rack null"),
    ("00 00 00 05", "controller_id 5"),
    ("00 00 00 01", "one topic"),
    ("00 05", "error_code 5"),
    ("00 01 74", "name 't'"),
    ("01", "is_internal"),
    ("00 00 00 01", "one partition"),
    ("00 00", "error_code"),
    ("00 00 00 00", "partition_index"),
    ("ff ff ff ff", "leader_id -1"),
    ("00 00 00 02 00 00 00 05 00 00 00 06", "replica_nodes 5, 6"),
    ("00 00 00 00", "isr_nodes: none"),
]
FETCH_REQUEST_V12: Lines = [
    ("ff ff ff ff", "replica_id -1"),
    ("00 00 01 f4", "max_wait_ms 500"),
    ("00 00 00 01", "min_bytes"),
    ("00 10 00 00", "max_bytes 1 MiB"),
    ("01", "isolation_level"),
    ("00 00 00 00", "session_id"),
    ("ff ff ff ff", "session_epoch -1"),
    ("02", "one topic"),
    ("02 74", "topic 't'"),
    ("02", "one partition"),
    ("00 00 00 03", "partition 3"),
    ("ff ff ff ff", "current_leader_epoch -1"),
    ("00 00 00 00 00 00 00 2a", "fetch_offset 42"),
    ("ff ff ff ff", "last_fetched_epoch -1"),
    ("ff ff ff ff ff ff ff ff", "log_start_offset -1"),
    ("00 00 80 00", "partition_max_bytes 32 KiB"),
    ("00", "no tagged fields (partition)"),
    ("00", "no tagged fields (topic)"),
    ("01", "forgotten_topics_data: none"),
    ("01", "rack_id: empty"),
    ("02", "two tagged fields"),
    ("00 04", "tag 0, cluster_id, 4 bytes"),
    ("04 69 64 33", "compact string 'id3'"),
    ("09 02 aa bb", "tag 9, unknown to everybody, 2 bytes"),
]
REQUEST_HEADER_V1: Lines = [
    ("00 01", "request_api_key 1"),
    ("00 0b", "request_api_version 11"),
    ("ff ff ff fe", "correlation_id -2"),
    ("00 02 6d 65", "client_id 'me'"),
]
REQUEST_HEADER_V2: Lines = [
    ("00 01", "request_api_key 1"),
    ("00 0c", "request_api_version 12"),
    ("00 00 00 07", "correlation_id 7"),
    ("ff ff", "client_id null: never a compact string"),
    ("01 c8 01 01 58", "one tagged field: tag 200, 1 byte"),
]
FETCH_RESPONSE_V13: Lines = [
    ("00 00 00 00", "throttle_time_ms"),
    ("00 00", "error_code"),
    ("00 00 00 4d", "session_id 77"),
    ("02", "one topic"),
    ("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 2a", "topic_id"),
    ("02", "one partition"),
    ("00 00 00 00", "partition_index"),
    ("00 4a", "error_code 74, FENCED_LEADER_EPOCH"),
    ("00 00 00 00 00 00 00 05", "high_watermark"),
    ("ff ff ff ff ff ff ff ff", "last_stable_offset -1"),
    ("ff ff ff ff ff ff ff ff", "log_start_offset -1"),
    ("00", "aborted_transactions null"),
    ("ff ff ff ff", "preferred_read_replica -1"),
    ("01", "records: empty, not null"),
    ("01", "one tagged field (partition)"),
    ("01 09", "tag 1, current_leader, 9 bytes"),
    ("00 00 00 02 00 00 00 08 00", "leader_id 2, leader_epoch 8, no tagged fields"),
    ("00", "no tagged fields (topic)"),
    ("00", "no tagged fields"),
]
VECTORS: list[tuple[Message, int, Lines]] = [
    (ApiVersionsRequest(), 0, []),
    (
        ApiVersionsRequest(client_software_name="abc", client_software_version="1"),
        3,
        API_VERSIONS_REQUEST_V3,
    ),
    (
        ApiVersionsResponse(
            error_code=35,
            api_keys=[
                ApiVersionsResponse.ApiVersion(api_key=18, min_version=0, max_version=4),
                ApiVersionsResponse.ApiVersion(api_key=0, min_version=3, max_version=12),
            ],
        ),
        0,
        API_VERSIONS_RESPONSE_V0,
    ),
    (
        ApiVersionsResponse(
            api_keys=[ApiVersionsResponse.ApiVersion(api_key=18, min_version=0, max_version=4)],
            throttle_time_ms=10,
            supported_features=[
                ApiVersionsResponse.SupportedFeatureKey(
                    name="meta.v1", min_version=1, max_version=2
                )
            ],
            finalized_features_epoch=9,
        ),
        3,
        API_VERSIONS_RESPONSE_V3,
    ),
    (
        MetadataRequest(
            topics=[
                MetadataRequest.MetadataRequestTopic(name="a"),
                MetadataRequest.MetadataRequestTopic(name="é"),
            ]
        ),
        1,
        METADATA_REQUEST_V1,
    ),
    (
        MetadataResponse(
            brokers=[MetadataResponse.MetadataResponseBroker(node_id=5, host="h", port=9092)],
            controller_id=5,
            topics=[
                MetadataResponse.MetadataResponseTopic(
                    error_code=5,
                    name="t",
                    is_internal=True,
                    partitions=[
                        MetadataResponse.MetadataResponsePartition(
                            leader_id=-1, replica_nodes=[5, 6]
                        )
                    ],
                )
            ],
        ),
        1,
        METADATA_RESPONSE_V1,
    ),
    (
        FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=1 << 20,
            isolation_level=1,
            topics=[
                FetchRequest.FetchTopic(
                    topic="t",
                    partitions=[
                        FetchRequest.FetchPartition(
                            partition=3, fetch_offset=42, partition_max_bytes=1 << 15
                        )
                    ],
                )
            ],
            cluster_id="id3",
            unknown_tagged_fields={9: b"\xaa\xbb"},
        ),
        12,
        FETCH_REQUEST_V12,
    ),
    (
        FetchResponse(
            session_id=77,
            responses=[
                FetchResponse.FetchableTopicResponse(
                    topic_id=UUID(int=42),
                    partitions=[
                        FetchResponse.PartitionData(
                            error_code=74,
                            high_watermark=5,
                            aborted_transactions=None,
                            records=b"",
                            current_leader=FetchResponse.LeaderIdAndEpoch(
                                leader_id=2, leader_epoch=8
                            ),
                        )
                    ],
                )
            ],
        ),
        13,
        FETCH_RESPONSE_V13,
    ),
    (
        RequestHeader(request_api_key=1, request_api_version=11, correlation_id=-2, client_id="me"),
        1,
        REQUEST_HEADER_V1,
    ),
    (
        RequestHeader(
            request_api_key=1,
            request_api_version=12,
            correlation_id=7,
            client_id=None,
            unknown_tagged_fields={200: b"X"},
        ),
        2,
        REQUEST_HEADER_V2,
    ),
    (ResponseHeader(correlation_id=258), 0, [("00 00 01 02", "correlation_id")]),
    (ResponseHeader(correlation_id=258), 1, [("00 00 01 02", "correlation_id"), ("00", "tags")]),
]


@pytest.mark.parametrize(
    ("message", "version", "lines"),
    VECTORS,
    ids=[f"{type(message).__name__}-v{version}" for message, version, _ in VECTORS],
)
def test_message_matches_vector_in_both_directions(
    message: Message, version: int, lines: Lines
) -> None:
    assert encode(message, version).hex(" ") == raw(lines).hex(" ")
    assert decode(type(message), version, raw(lines)) == message


def test_request_has_header_of_its_version() -> None:
    body = MetadataRequest(topics=None)
    old = raw([("00 03 00 01", "Metadata v1"), ("00 00 00 05", "id"), ("00 01 63", "client 'c'")])
    assert encode_request(body, 1, 5, "c") == old + b"\xff\xff\xff\xff"
    flexible = raw(
        [
            ("00 03 00 09", "Metadata v9"),
            ("00 00 00 05", "correlation_id"),
            ("00 01 63", "client 'c', still with an int16 length"),
            ("00", "no tagged fields"),
        ]
    )
    assert encode_request(body, 9, 5, "c").startswith(flexible)
    header, start = decode_request_header(flexible + b"body")
    assert (header.request_api_key, header.client_id, start) == (3, "c", len(flexible))


@pytest.mark.parametrize("version", range(6))
def test_api_versions_response_has_header_0_at_every_version(version: int) -> None:
    payload = encode_response(ApiVersionsResponse(error_code=35), version, 9)
    assert payload.startswith(bytes.fromhex("00 00 00 09 00 23"))
    correlation_id, read = decode_response(api_named("ApiVersions"), version, payload)
    assert (correlation_id, read) == (9, ApiVersionsResponse(error_code=35))


@pytest.mark.parametrize("version", range(8, 11))
def test_flexible_metadata_response_has_header_1(version: int) -> None:
    header = "00 00 00 09" if version < 9 else "00 00 00 09 00"
    payload = encode_response(MetadataResponse(throttle_time_ms=3), version, 9)
    assert payload.startswith(bytes.fromhex(header + "00 00 00 03"))

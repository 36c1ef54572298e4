"""Messages of the size that a cluster of three brokers and its clients send."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from harness.codec.messages import (
    ApiVersionsResponse,
    FetchRequest,
    FetchResponse,
    JoinGroupResponse,
    MetadataResponse,
    OffsetCommitRequest,
    ProduceRequest,
)
from harness.codec.structs import Message

BROKERS = (1, 2, 3)
RECORDS = bytes(range(256)) * 4  # no side looks into it
APIS = [(key, 0, key % 14) for key in range(62)]
FEATURES = [("group.version", 1), ("kraft.version", 1), ("metadata.version", 27)]


def topic_name(number: int) -> str:
    """Such as people choose: 20 to 30 characters."""
    return f"shop.{('orders', 'payments', 'customers')[number % 3]}.events.v{number:03}"


def topic_id(number: int) -> UUID:
    """Spread over all 128 bits, as random ones are."""
    return UUID(int=(number + 1) * 0x1234_5678_9ABC_DEF0_1234_5678_9ABC % 2**128)


def metadata_response() -> Message:
    """3 brokers; 30 topics of 8 partitions with 3 replicas."""
    partition = MetadataResponse.MetadataResponsePartition
    return MetadataResponse(
        brokers=[
            MetadataResponse.MetadataResponseBroker(
                node_id=node,
                host=f"broker-{node}.kafka.example.org",
                port=9092,
                rack=f"rack-{node}",
            )
            for node in BROKERS
        ],
        cluster_id="J8qXRwI-Qyi2G0guFTiuYw",
        controller_id=1,
        topics=[
            MetadataResponse.MetadataResponseTopic(
                name=topic_name(number),
                topic_id=topic_id(number),
                partitions=[
                    partition(
                        partition_index=index,
                        leader_id=BROKERS[index % 3],
                        leader_epoch=7 + index,
                        replica_nodes=list(BROKERS),
                        isr_nodes=list(BROKERS),
                    )
                    for index in range(8)
                ],
            )
            for number in range(30)
        ],
    )


def fetch_request(named: bool) -> Message:
    """20 topics of 6 partitions, by name (to version 12) or by id (from version 13)."""
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52_428_800,
        session_id=1_234_567,
        session_epoch=3,
        topics=[
            FetchRequest.FetchTopic(
                **({"topic": topic_name(n)} if named else {"topic_id": topic_id(n)}),
                partitions=[
                    FetchRequest.FetchPartition(
                        partition=index,
                        current_leader_epoch=7,
                        fetch_offset=1_000_000 + index,
                        partition_max_bytes=1_048_576,
                    )
                    for index in range(6)
                ],
            )
            for n in range(20)
        ],
        rack_id="rack-1",
    )


def fetch_response() -> Message:
    """8 topics of 4 partitions with 1 KiB of records each."""
    return FetchResponse(
        session_id=1_234_567,
        responses=[
            FetchResponse.FetchableTopicResponse(
                topic=topic_name(number),
                partitions=[
                    FetchResponse.PartitionData(
                        partition_index=index,
                        high_watermark=1_000_010,
                        last_stable_offset=1_000_010,
                        log_start_offset=0,
                        aborted_transactions=[],
                        records=RECORDS,
                    )
                    for index in range(4)
                ],
            )
            for number in range(8)
        ],
    )


def produce_request() -> Message:
    """6 topics of 4 partitions with 1 KiB of records each."""
    return ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            ProduceRequest.TopicProduceData(
                name=topic_name(number),
                partition_data=[
                    ProduceRequest.PartitionProduceData(index=index, records=RECORDS)
                    for index in range(4)
                ],
            )
            for number in range(6)
        ],
    )


def api_versions_response() -> Message:
    """62 APIs, and the features that every KRaft broker has."""
    return ApiVersionsResponse(
        api_keys=[
            ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
            for key, low, high in APIS
        ],
        supported_features=[
            ApiVersionsResponse.SupportedFeatureKey(name=name, min_version=0, max_version=level)
            for name, level in FEATURES
        ],
        finalized_features_epoch=42,
        finalized_features=[
            ApiVersionsResponse.FinalizedFeatureKey(
                name=name, max_version_level=level, min_version_level=level
            )
            for name, level in FEATURES
        ],
    )


def api_versions_response_plain() -> Message:
    """As brokers without features send it."""
    full = api_versions_response()
    assert isinstance(full, ApiVersionsResponse)
    return ApiVersionsResponse(api_keys=full.api_keys)


def join_group_response() -> Message:
    """The response that the leader of a group of 20 members receives."""
    return JoinGroupResponse(
        generation_id=17,
        protocol_type="consumer",
        protocol_name="cooperative-sticky",
        leader="shop-1-0a1b2c3d-4e5f-6789-abcd-ef0123456789",
        member_id="shop-1-0a1b2c3d-4e5f-6789-abcd-ef0123456789",
        members=[
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=f"shop-{number}-0a1b2c3d-4e5f-6789-abcd-ef0123456789",
                group_instance_id=f"shop-{number}",
                metadata=RECORDS[: 60 + number],
            )
            for number in range(20)
        ],
    )


def offset_commit_request(static: bool = True) -> Message:
    """16 topics of 6 partitions; ``static``: of a static member, with leader epochs."""
    return OffsetCommitRequest(
        group_id="shop.billing",
        generation_id_or_member_epoch=17,
        member_id="shop-1-0a1b2c3d-4e5f-6789-abcd-ef0123456789",
        group_instance_id="shop-1" if static else None,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(
                name=topic_name(number),
                partitions=[
                    OffsetCommitRequest.OffsetCommitRequestPartition(
                        partition_index=index,
                        committed_offset=1_000_000 + index,
                        committed_leader_epoch=7 if static else -1,
                        committed_metadata="",
                    )
                    for index in range(6)
                ],
            )
            for number in range(16)
        ],
    )


SAMPLES: list[tuple[int, Callable[[], Message]]] = [
    (12, metadata_response),
    (12, lambda: fetch_request(named=True)),
    (15, lambda: fetch_request(named=False)),
    (12, fetch_response),
    (9, produce_request),
    (3, api_versions_response),
    (4, api_versions_response),
    (9, join_group_response),
    (8, offset_commit_request),
]
AIOKAFKA_SAMPLES: list[tuple[int, Callable[[], Message]]] = [
    (5, metadata_response),
    (11, lambda: fetch_request(named=True)),
    (11, fetch_response),
    (8, produce_request),
    (2, api_versions_response_plain),
    (5, join_group_response),
    (3, lambda: offset_commit_request(static=False)),
]

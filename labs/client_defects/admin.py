"""Defects that the admin calls of a client notice."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.messages import (
    CreatePartitionsRequest,
    DeleteRecordsResponse,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    MetadataResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes


@answers("CLIENT-001", r"partitions are described as")
def no_replica_is_in_sync(answer: MetadataResponse) -> None:
    """The broker lists every partition with an empty ISR."""
    for topic in answer.topics:
        for partition in topic.partitions:
            partition.isr_nodes = []


@answers("CLIENT-002", r"configs are described as .*'retention.ms': '604800000'")
def retention_is_always_the_default(answer: DescribeConfigsResponse) -> None:
    """The broker describes the default retention, whatever a topic was created with."""
    for result in answer.results:
        for config in result.configs:
            if config.name == "retention.ms":
                config.value = "604800000"


@takes("CLIENT-003", r"configs are described as .*'max.message.bytes': '65536'")
def a_change_is_acknowledged_alone(request: IncrementalAlterConfigsRequest) -> None:
    """The broker acknowledges the change of a config and does not make it."""
    for resource in request.resources:
        resource.configs = [one for one in resource.configs if one.name != "max.message.bytes"]


@takes("CLIENT-004", r"3 partitions are described")
def partitions_are_only_validated(request: CreatePartitionsRequest) -> None:
    """The broker acknowledges new partitions and does not create them."""
    request.validate_only = True


@answers("CLIENT-005", r"low watermarks are \{0: 3\}")
def low_watermark_is_one_higher(answer: DeleteRecordsResponse) -> None:
    """DeleteRecords returns a low watermark that is one too high."""
    for topic in answer.topics:
        for partition in topic.partitions:
            partition.low_watermark += 1


class OthersAreDeletedToo(FrameRule):
    """The broker deletes all topics of the tests with the one that is named."""

    def __init__(self) -> None:
        self._deleted = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self._deleted |= seen.api is not None and seen.api.name == "DeleteTopics"
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not self._deleted or seen.api is None or seen.api.response is not MetadataResponse:
            return [payload]

        def left(_: SeenRequest, answer: MetadataResponse) -> None:
            answer.topics = [one for one in answer.topics if (one.name or "").startswith("__")]

        return [edited(seen, payload, left)]


DEFECTS = [
    no_replica_is_in_sync,
    retention_is_always_the_default,
    a_change_is_acknowledged_alone,
    partitions_are_only_validated,
    low_watermark_is_one_higher,
    rule("CLIENT-006", r"the other topic is not listed any more", OthersAreDeletedToo),
]

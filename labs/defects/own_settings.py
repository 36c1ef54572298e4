"""Defects of areas META and TOPIC that strike brokers with special settings."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsResponse, MetadataResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers


@answers("META-007", r"1 partitions, num\.partitions is 3", "Metadata")
def a_topic_begins_with_one_partition(_: SeenRequest, message: Message) -> None:
    """A topic of auto-creation has one partition, whatever num.partitions is."""
    assert isinstance(message, MetadataResponse)
    for topic in message.topics:
        del topic.partitions[1:]


@answers("META-020", r"the rack is \{None\}, broker\.rack is 'row 7'", "Metadata")
def racks_are_not_told(_: SeenRequest, message: Message) -> None:
    """Metadata returns a null rack for a broker with one."""
    assert isinstance(message, MetadataResponse)
    for broker in message.brokers:
        broker.rack = None


@answers("TOPIC-032", r"v\d: error is INVALID_REQUEST \(42\), expected TOPIC_DEL", "DeleteTopics")
def deletion_is_never_called_disabled(_: SeenRequest, message: Message) -> None:
    """DeleteTopics from v3 on has the error of older versions when deletion is disabled."""
    assert isinstance(message, DeleteTopicsResponse)
    for result in message.responses:
        if result.error_code == ErrorCode.TOPIC_DELETION_DISABLED:
            result.error_code = ErrorCode.INVALID_REQUEST


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        a_topic_begins_with_one_partition,
        racks_are_not_told,
        deletion_is_never_called_disabled,
    )
]

"""Defects of areas META and TOPIC that strike brokers with special settings."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsResponse, MetadataResponse
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers


@answers("META-007", r"1 partitions, num\.partitions is 3")
def a_topic_begins_with_one_partition(answer: MetadataResponse) -> None:
    """A topic of auto-creation has one partition, whatever num.partitions is."""
    for topic in answer.topics:
        del topic.partitions[1:]


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        a_topic_begins_with_one_partition,
        changed_field("META-020", "racks_are_not_told",
            r"the rack is \{None\}, broker\.rack is 'row 7'",
            "Metadata returns a null rack for a broker with one.",
            MetadataResponse, "brokers.rack", ANY, None),
        changed_field("TOPIC-032", "deletion_is_never_called_disabled",
            r"v\d: error is INVALID_REQUEST \(42\), expected TOPIC_DEL",
            "DeleteTopics from v3 on has the error of older versions when deletion is disabled.",
            DeleteTopicsResponse, "responses.error_code",
            ErrorCode.TOPIC_DELETION_DISABLED, ErrorCode.INVALID_REQUEST),
    )
]  # fmt: skip

"""Defects of logs that keep the configs with which they were created."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import AlterConfigsRequest
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.edited_request import takes
from labs.defects.log_cut import answered
from labs.defects.newest_topic import NewestTopic, of_newest
from suites.durability.support.segments import DAY_MS, MINUTE_MS

EARLIEST = -2
MEGABYTE = 1 << 20
COMPACTED_BEHIND = 2  # the first offset that compaction left


def _keep(request: AlterConfigsRequest, name: str, changed: str, kept: str, beside: str) -> None:
    """Replace the value of a config beside another one that the request names too."""
    for resource in request.resources:
        if beside in {config.name for config in resource.configs}:
            for config in resource.configs:
                if (config.name, config.value) == (name, changed):
                    config.value = kept


@takes("STOR-035", r"changed to delete, the log begins at 0")
def a_policy_is_that_of_the_creation(request: AlterConfigsRequest) -> None:
    """A log that was created with the policy compact keeps it."""
    _keep(request, "cleanup.policy", "delete", "compact", "segment.ms")


@takes("STOR-036", r"a shorter segment.ms: the log begins at 0")
def segment_ms_is_that_of_the_creation(request: AlterConfigsRequest) -> None:
    """A log keeps the segment.ms with which it was created."""
    _keep(request, "segment.ms", str(MINUTE_MS), str(DAY_MS), "retention.bytes")


@takes("STOR-036", r"a longer segment.ms: the log begins at 2")
def segment_ms_never_grows(request: AlterConfigsRequest) -> None:
    """A log takes no longer segment.ms than it was created with."""
    _keep(request, "segment.ms", str(DAY_MS), str(MINUTE_MS), "retention.bytes")


@takes("STOR-036", r"a shorter segment.bytes: the log begins at 0")
def segment_bytes_is_that_of_the_creation(request: AlterConfigsRequest) -> None:
    """A log keeps the segment.bytes with which it was created."""
    _keep(request, "segment.bytes", str(MEGABYTE), str(4 * MEGABYTE), "retention.bytes")


@of_newest("FETCH-024", r"log start offset 0, the earliest is 2")
def a_compacted_log_begins_with_its_first_record(
    newest: NewestTopic, seen: SeenRequest, answer: Message
) -> None:
    """ListOffsets returns the first record that compaction left as the earliest offset."""
    is_compacted = newest.configs.get("cleanup.policy") == "compact"
    for one in answered(newest, seen, answer, EARLIEST) if is_compacted else ():
        one.offset = max(one.offset, COMPACTED_BEHIND)


DEFECTS = [
    replace(made, private=True)
    for made in (
        a_policy_is_that_of_the_creation,
        segment_ms_is_that_of_the_creation,
        segment_ms_never_grows,
        segment_bytes_is_that_of_the_creation,
        a_compacted_log_begins_with_its_first_record,
    )
]

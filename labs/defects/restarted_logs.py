"""Defects of a broker that was started again: epochs and producers of what its logs lost."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.nested_structs import structs_at
from labs.defects.started_again import StartedAgain, after_start
from suites.durability import test_cut_epochs_after_recovery as of_epochs
from suites.durability import test_producers_after_retention as of_producers


@after_start(
    "RECV-032",
    r"after (the cut|another kill), \d batches are lost: \(epoch, end\) of epochs are",
    partitions=of_epochs.PARTITIONS,
)
def cut_epochs_are_kept(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """Recovery cuts a log and keeps the leader epochs of what it has cut off."""
    request = seen.message
    if isinstance(request, OffsetForLeaderEpochRequest) and isinstance(
        answer, OffsetForLeaderEpochResponse
    ):
        (asked,) = structs_at(request, "topics", "partitions")
        for one in structs_at(answer, "topics", "partitions"):
            one.leader_epoch = asked.leader_epoch


@after_start(
    "IDEM-037",
    r"after a (second )?stop, a gap: error is NONE",
    partitions=of_producers.PARTITIONS,
    rolled=True,
)
def producers_without_records_are_forgotten(
    _: StartedAgain, __: SeenRequest, answer: Message
) -> None:
    """A start reads the producers of a log from its records alone."""
    if isinstance(answer, ProduceResponse):
        for one in structs_at(answer, "responses", "partition_responses"):
            if one.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                one.error_code = int(ErrorCode.NONE)


DEFECTS = [
    replace(made, private=True)
    for made in (cut_epochs_are_kept, producers_without_records_are_forgotten)
]

"""Defects of area EPOCH: leader epochs that a broker of a cluster does not check."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from labs.defects.changed_field import changed_field
from labs.defects.one_node import of_cluster

DEFECTS = of_cluster(
    [
        changed_field("EPOCH-013", "epochs_to_come_may_fetch",
            r"epoch \d+ is to come: error is NONE",
            "The broker accepts a newer leader epoch.",
            FetchResponse, "responses.partitions.error_code",
            ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NONE),
    ],
    private=True,
)  # fmt: skip

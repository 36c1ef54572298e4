"""Defects of area EPOCH: leader epochs that a broker of a cluster does not check."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.one_node import of_cluster


@answers("EPOCH-013", r"epoch \d+ is to come: error is NONE", "Fetch")
def epochs_to_come_may_fetch(seen: SeenRequest, message: Message) -> None:
    """The broker accepts a newer leader epoch."""
    del seen
    assert isinstance(message, FetchResponse)
    for topic in message.responses:
        for each in topic.partitions:
            if each.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH:
                each.error_code = ErrorCode.NONE


DEFECTS = of_cluster([epochs_to_come_may_fetch], private=True)

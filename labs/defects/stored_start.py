"""Defects of areas RECV and LDIR: writes, ends and starts of the built-in broker."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.log.log_store import NoDirectoryLeft
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.node_files import NodeFiles
from harness.reference_broker.storage.stored_segment import StoredSegment
from harness.reference_broker.storage.unopened_directory import UnopenedDirectory
from labs.defects.defect import wrong_in_broker

MUCH_ROOM_BYTES = 1 << 28
Write = Callable[[int, bytes, int], None]
Marker = Callable[[LogDirectory], tuple[bool, int]]
Open = Callable[..., tuple[Any, Any]]
Problem = Callable[..., ErrorCode]
OpenFolder = Callable[[NodeFiles, Path, str, int], LogDirectory | UnopenedDirectory]


@wrong_in_broker("RECV-001", r"after kill 1 the log ends at 46, acknowledged are 47",
                 "storage.stored_segment", "write_all")  # fmt: skip
def the_last_batch_waits_in_memory(write_all: Write) -> Write:
    """On a disk with much room the broker writes an append only with the next write or read."""
    waiting: dict[int, tuple[bytes, int]] = {}
    right = StoredSegment._descriptor.fget  # type: ignore[attr-defined]

    def with_all_written(segment: StoredSegment) -> int:
        descriptor: int = right(segment)
        if descriptor in waiting:
            write_all(descriptor, *waiting.pop(descriptor))
        return descriptor

    StoredSegment._descriptor = property(with_all_written)  # type: ignore[method-assign, assignment]

    def instead(descriptor: int, data: bytes, position: int) -> None:
        disk = os.fstatvfs(descriptor)
        if disk.f_bavail * disk.f_frsize < MUCH_ROOM_BYTES:  # one that may be full: RECV-017
            write_all(descriptor, data, position)
        else:
            waiting[descriptor] = data, position

    return instead


@wrong_in_broker("RECV-007", r"the start changed the segments|good order the log ends at",
                 "storage.log_directory", "LogDirectory._take_marker")  # fmt: skip
def no_end_is_in_good_order(take_marker: Marker) -> Marker:
    """A start removes the marker of a clean shutdown and ignores it, so that it checks all logs."""
    return lambda directory: (False, take_marker(directory)[1])


@wrong_in_broker("RECV-010", r"b'first' is stored at 7, not 5", "storage.log_directory", "open_log")
def a_log_goes_on_where_it_was_committed(open_log: Open) -> Open:
    """The next offset is the noted high watermark if that is higher than the end of the log."""

    def instead(*given: object) -> tuple[Any, Any]:
        opened, log = open_log(*given)
        log.end_offset = max(log.end_offset, opened.high_watermark or 0)
        return opened, log

    return instead


@wrong_in_broker("RECV-016", r"it does not start again",
                 "storage.node_files", "NodeFiles._open")  # fmt: skip
def no_start_with_one_directory_of_two(open_folder: OpenFolder) -> OpenFolder:
    """The broker does not start if one of its directories cannot be used."""

    def instead(
        files: NodeFiles, folder: Path, cluster: str, node: int
    ) -> LogDirectory | UnopenedDirectory:
        found = open_folder(files, folder, cluster, node)
        if isinstance(found, UnopenedDirectory):
            raise NoDirectoryLeft(f"{folder} cannot be used") from found.failure
        return found

    return instead


@wrong_in_broker("LDIR-007", r"Fetch v\d+: error is NOT_LEADER_OR_FOLLOWER",
                 "state.fetch.fetch_reading", "_problem_with")  # fmt: skip
def what_nobody_leads_did_not_fail(problem_with: Problem) -> Problem:
    """Fetch returns NOT_LEADER_OR_FOLLOWER for a failed directory at every version."""

    def instead(*given: Any) -> ErrorCode:
        error = problem_with(*given)
        failed = error is ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if failed else error

    return instead


DEFECTS = [
    the_last_batch_waits_in_memory,
    no_end_is_in_good_order,
    a_log_goes_on_where_it_was_committed,
    no_start_with_one_directory_of_two,
    what_nobody_leads_did_not_fail,
]

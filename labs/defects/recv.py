"""Defects of area RECV: the logs of a broker after a restart."""

from __future__ import annotations

from dataclasses import replace

from harness.client.requests import LATEST
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    FetchResponse,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.asked_times import asked_and_told, told_of
from labs.defects.started_again import StartedAgain, after_start, reads_committed
from suites.durability.support.log_dirs import PARTITIONS
from suites.durability.test_recovery_at_start import BATCHES_A_ROUND
from suites.durability.test_recovery_of_damaged_log import CUTS, FLIPPED, MISFITS, NONSENSE


@after_start("RECV-001", r"after kill 1 the log ends at 46, acknowledged are 47", partitions=1)
def what_came_last_is_lost(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """The broker loses the last batch, which only the memory of its process had."""
    for one in told_of(seen.message, answer, LATEST):
        one.offset -= one.offset == BATCHES_A_ROUND


def _is_longer(seen: SeenRequest, answer: Message) -> None:
    """Raise the end of the log by one."""
    for one in told_of(seen.message, answer, LATEST):
        one.offset += 1


@after_start("RECV-002", r"bytes of the last entry left: the log ends at", partitions=CUTS + 1)
def a_torn_entry_counts(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """Recovery counts an entry if its beginning is in the file."""
    _is_longer(seen, answer)


@after_start("RECV-003", r"behind the last entry: the log ends at", partitions=NONSENSE)
def nonsense_counts(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """Recovery counts the bytes behind the last entry as an entry."""
    _is_longer(seen, answer)


@after_start("RECV-004", r"byte \d+ of entry \d changed: the log ends at", partitions=FLIPPED)
def what_is_behind_damage_stays(done: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """Recovery keeps the end of the log, whatever is damaged before it."""
    for one in told_of(seen.message, answer, LATEST):
        one.offset = done.ends.get(one.partition_index, one.offset)


@after_start("RECV-005", r"a size .* at entry \d: the log ends at", partitions=len(MISFITS))
def an_entry_may_be_larger_than_the_file(
    done: StartedAgain, seen: SeenRequest, answer: Message
) -> None:
    """Recovery trusts the length of every entry."""
    for one in told_of(seen.message, answer, LATEST):
        one.offset = done.ends.get(one.partition_index, one.offset)


@after_start("RECV-006", r"the log ends at 0, whole is", partitions=1, rolled=True)
def one_bad_segment_costs_all(done: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """Recovery empties a log with a damaged newest segment."""
    for one in told_of(seen.message, answer, LATEST):
        if one.offset < done.ends.get(one.partition_index, 0):
            one.offset = 0


@after_start(
    "RECV-007", r"good order the log ends at \d+, (acknowledged|before)", partitions=1, rolled=True
)
def the_last_entry_is_always_cut(done: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """The broker cuts the last entry of a log at every start, even if the log is whole."""
    for one in told_of(seen.message, answer, LATEST):
        if one.offset == done.ends.get(one.partition_index):
            one.offset -= 1


@after_start("RECV-008", r"the offset for batch \d+'s time is -1", rolled=True)
def times_are_not_found_again(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """ListOffsets finds no time in a segment that has lost its time index."""
    for timestamp, one in asked_and_told(seen.message, answer):
        if timestamp >= 0:
            one.offset = one.timestamp = -1


@after_start("RECV-010", r"b'first' is stored at \d, not \d", partitions=3)
def a_gap_is_left(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker does not assign again the offset of an entry that recovery cut."""
    if isinstance(answer, ProduceResponse):
        for topic in answer.responses:
            for one in topic.partition_responses:
                one.base_offset += 1


@after_start("RECV-015", r"with(out|) [^:]*: _State\(.*aborted=\[\]\)", partitions=4, rolled=True)
def aborts_are_forgotten(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """A read_committed Fetch returns no transaction that was aborted before the kill."""
    if isinstance(answer, FetchResponse) and reads_committed(seen):
        for topic in answer.responses:
            for one in topic.partitions:
                one.aborted_transactions = []


@after_start("RECV-030", r"recovered: ", partitions=2)
def aborts_are_noted_again(_: StartedAgain, seen: SeenRequest, answer: Message) -> None:
    """A read_committed Fetch returns each transaction twice that was aborted before the kill."""
    if isinstance(answer, FetchResponse) and reads_committed(seen):
        for topic in answer.responses:
            for one in topic.partitions:
                one.aborted_transactions = [*(one.aborted_transactions or ())] * 2


@after_start("RECV-015", r"with(out)? .*, a gap: error is NONE", rolled=True)
def any_sequence_goes_on(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """The broker acknowledges a batch with a sequence gap to those stored before the kill."""
    if isinstance(answer, ProduceResponse):
        for topic in answer.responses:
            for one in topic.partition_responses:
                if one.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                    one.error_code = int(ErrorCode.NONE)


@after_start("RECV-016", r"Produce after a start with one directory: err", partitions=PARTITIONS)
def all_is_lost_with_one_directory(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """A broker that starts without one of its directories refuses records in the other."""
    if isinstance(answer, ProduceResponse):
        for topic in answer.responses:
            for one in topic.partition_responses:
                one.error_code = int(ErrorCode.KAFKA_STORAGE_ERROR)


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        what_came_last_is_lost,
        a_torn_entry_counts,
        nonsense_counts,
        what_is_behind_damage_stays,
        an_entry_may_be_larger_than_the_file,
        one_bad_segment_costs_all,
        the_last_entry_is_always_cut,
        times_are_not_found_again,
        replace(a_gap_is_left, also=("RECV-021", "RECV-028")),
        aborts_are_forgotten,
        aborts_are_noted_again,
        any_sequence_goes_on,
        all_is_lost_with_one_directory,
    )
]

"""Defects of area LDIR: log directories of one broker."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeProducersResponse,
    FetchResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.newest_topic import NewestTopic, of_newest
from labs.defects.started_again import StartedAgain, after_start
from suites.durability.test_log_directory_wishes import WISHED

DIRECTORIES = 2
MOVED = -1  # a key of what the newest topic remembers.


@answers("LDIR-001", r"DescribedReplica\(.*lag=1, is_future=False\)\], not")
def the_lag_is_counted_from_one(answer: DescribeLogDirsResponse) -> None:
    """DescribeLogDirs returns a lag of one record for a replica that has all."""
    for directory in answer.results:
        for topic in directory.topics:
            for partition in topic.partitions:
                partition.offset_lag += 1


@takes("LDIR-001", r"named in two entries")
def the_last_entry_of_a_topic_counts(request: DescribeLogDirsRequest) -> None:
    """DescribeLogDirs ignores the first entry of a topic that a request names twice."""
    if request.topics is not None:
        request.topics = list({each.topic: each for each in request.topics}.values())


@answers("LDIR-001", r"\(size, lag, is_future\): \[\[\(\d+, 0, False\)\], \[\], \[\], \[\]\]")
def all_topics_are_all_first_partitions(
    request: DescribeLogDirsRequest, answer: DescribeLogDirsResponse
) -> None:
    """DescribeLogDirs returns one partition of each topic to a request for all topics."""
    for directory in answer.results if request.topics is None else ():
        for topic in directory.topics:
            topic.partitions = [one for one in topic.partitions if one.partition_index == 0]


@answers("LDIR-014", r"wished for \S+ are replicas that are in")
def wishes_are_for_the_other_directory(answer: DescribeLogDirsResponse) -> None:
    """The broker creates replicas in the directory that no request names."""
    if len(answer.results) == DIRECTORIES:
        first, second = answer.results
        names = {topic.name for each in answer.results for topic in each.topics}
        if len(names) >= 2 * WISHED:
            first.topics, second.topics = second.topics, first.topics


@answers("LDIR-016", r"soon the replica is in ")
def a_future_replica_is_not_described(answer: DescribeLogDirsResponse) -> None:
    """DescribeLogDirs lists a replica only where it is used."""
    for directory in answer.results:
        for topic in directory.topics:
            topic.partitions = [one for one in topic.partitions if not one.is_future_key]


@of_newest("LDIR-004", r"the replica is not in \w+ alone: .*is_future=True")
def a_move_has_no_end(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """DescribeLogDirs returns a moved replica as a future one for ever."""
    if isinstance(answer, AlterReplicaLogDirsResponse):
        codes = {one.error_code for topic in answer.results for one in topic.partitions}
        done.told[MOVED] = int(codes == {ErrorCode.NONE})
    if isinstance(answer, DescribeLogDirsResponse) and done.told.get(MOVED):
        for directory in answer.results:
            for topic in directory.topics:
                for partition in topic.partitions:
                    partition.is_future_key = True


@after_start("LDIR-018", r"started again, the replica is in ")
def a_restart_ends_moves(_: StartedAgain, __: SeenRequest, answer: Message) -> None:
    """DescribeLogDirs lists no future replica after a restart."""
    if isinstance(answer, DescribeLogDirsResponse):
        for directory in answer.results:
            for topic in directory.topics:
                topic.partitions = [one for one in topic.partitions if not one.is_future_key]


def _has_moved(done: NewestTopic, answer: Message) -> bool:
    """True from the first move of a replica of the newest topic on."""
    if isinstance(answer, AlterReplicaLogDirsResponse):
        done.told[MOVED] = int(done.name in {topic.topic_name for topic in answer.results})
    return bool(done.told.get(MOVED))


@answers("LDIR-005", r"alone is there, the errors are .*, wrong are")
def one_error_is_of_the_whole_request(answer: AlterReplicaLogDirsResponse) -> None:
    """AlterReplicaLogDirs returns for each replica the error of one that is not there."""
    parts = [part for topic in answer.results for part in topic.partitions]
    codes = [part.error_code for part in parts if part.error_code != ErrorCode.NONE]
    for part in parts if codes else ():
        part.error_code = codes[0]


@of_newest("LDIR-009", r"after a move, .*\.log_start_offset is 0, before")
def a_moved_log_starts_at_0(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """Fetch returns log start 0 for a replica that was moved."""
    if _has_moved(done, answer) and isinstance(answer, FetchResponse):
        for topic in answer.responses:
            for partition in topic.partitions:
                partition.log_start_offset = min(partition.log_start_offset, 0)


@of_newest("LDIR-009", r"after a move, DescribeProducers.*active_producers")
def a_moved_log_knows_no_producer(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """DescribeProducers returns no producer of a replica that was moved."""
    if _has_moved(done, answer) and isinstance(answer, DescribeProducersResponse):
        for topic in answer.topics:
            for partition in topic.partitions:
                partition.active_producers = []


DEFECTS = [
    all_topics_are_all_first_partitions,
    the_last_entry_of_a_topic_counts,
    the_lag_is_counted_from_one,
    one_error_is_of_the_whole_request,
    changed_field("LDIR-002", "nobody_knows_what_is_free", r": -1 of \d+ bytes are usable",
        "DescribeLogDirs returns unknown usable bytes.",
        DescribeLogDirsResponse, "results.usable_bytes", ANY, -1),
    *(
        replace(defect, private=True)
        for defect in (
            changed_field("LDIR-003", "old_clients_see_no_failure", r"DescribeLogDirs v[01]: ",
                "Up to v1 DescribeLogDirs returns a failed directory as one without partitions.",
                DescribeLogDirsResponse, "results.error_code", ANY, ErrorCode.NONE, range(2)),
            replace(wishes_are_for_the_other_directory, also=("LDIR-015",)),
            a_future_replica_is_not_described,
            replace(a_move_has_no_end, also=("LDIR-016",)),
            a_restart_ends_moves,
            a_moved_log_starts_at_0,
            a_moved_log_knows_no_producer,
            changed_field("LDIR-005", "a_failed_directory_is_not_found",
                r"to (first|second): error is LOG_DIR_NOT_FOUND",
                "AlterReplicaLogDirs reports a failed directory as not found.",
                AlterReplicaLogDirsResponse, "results.partitions.error_code",
                ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.LOG_DIR_NOT_FOUND),
            changed_field("LDIR-007", "everybody_knows_the_error",
                r"Fetch v[0-5]: error is KAFKA_STORAGE_ERROR",
                "Fetch up to v5 returns an error that its clients do not know.",
                FetchResponse, "responses.partitions.error_code",
                ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR, range(6)),
        )
    ),
]  # fmt: skip

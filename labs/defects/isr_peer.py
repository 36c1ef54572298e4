"""Defects of areas ISR, EPOCH and REPL: members of the ISR, and effects of a smaller one."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import (
    ListOffsetsResponse,
    MetadataResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from harness.codec.records import decode_batches, encode_batch
from harness.codec.structs import Message
from labs.defects.defect import rule
from labs.defects.replicas import (
    Answered,
    Replicas,
    is_debugger,
    told_to_consumers,
    told_to_others,
    told_to_replicas,
)


def _newest(done: Replicas, answer: Message) -> MetadataResponse.MetadataResponsePartition | None:
    """The newest topic's partition in an answer to Metadata; None in any other."""
    if not isinstance(answer, MetadataResponse):
        return None
    every = [partition for topic in answer.topics for partition in topic.partitions]
    return next((one for one in every if one.replica_nodes == done.replicas), None)


def _add_r3(done: Replicas, answer: Message) -> None:
    found = _newest(done, answer)
    if found is not None and done.replicas[2] not in found.isr_nodes:
        found.isr_nodes = [*found.isr_nodes, done.replicas[2]]


@told_to_others("ISR-009", r"R3 has fetched 3, 5 are committed: the ISR is")
def who_fetches_is_in_sync(done: Replicas, _: Message, answer: Message) -> None:
    """A follower that is back joins the ISR with its first Fetch."""
    if done.r3 == [0, 3, 3]:
        _add_r3(done, answer)


@told_to_others("ISR-009", r"not within .*: the ISR is")
def who_is_in_sync_has_the_whole_log(done: Replicas, _: Message, answer: Message) -> None:
    """A follower that is back joins the ISR only at the log end, above the high watermark."""
    found = _newest(done, answer)
    if found is not None and done.r3[-3:] == [3, 4, 5] and len(done.acks) == 7:
        found.isr_nodes = [each for each in found.isr_nodes if each != done.replicas[2]]


@told_to_others("ISR-010", r"R3 is fenced and fetches at the log end: the ISR is")
def who_is_fenced_is_in_sync(done: Replicas, _: Message, answer: Message) -> None:
    """A fenced broker that fetches at the log end is in the ISR."""
    if done.r3 == [2, 2]:
        _add_r3(done, answer)


@told_to_others("ISR-015", r"it has 2 of the 4 records at which the epoch begins: the ISR is")
def the_high_watermark_is_enough(done: Replicas, _: Message, answer: Message) -> None:
    """A follower joins the ISR of a new leader without the records of the earlier epochs."""
    found = _newest(done, answer)
    if found is None or len(done.replicas) != 3:
        return
    first = done.replicas[0]
    if done.asked.get(first) == [2, 2] and first not in found.isr_nodes:
        found.isr_nodes = [*found.isr_nodes, first]


@told_to_others("ISR-014", r"after the shrink the leader epoch is 1, expected 0")
def a_shrink_begins_a_leader_epoch(done: Replicas, _: Message, answer: Message) -> None:
    """An ISR without R3 has another leader epoch."""
    found = _newest(done, answer)
    if found is not None and not done.asked and done.replicas[-1] not in found.isr_nodes:
        found.leader_epoch += 1


@told_to_replicas("EPOCH-006", r"offset 3 after epoch \d: the diverging epoch is")
def an_epoch_ends_one_later(_: Replicas, data: Answered) -> None:
    """The leader returns a diverging epoch with an end offset that is one too high."""
    if data.diverging_epoch.epoch >= 0:
        data.diverging_epoch.end_offset += 1


@told_to_consumers("REPL-012", r"the ISR is smaller than min.insync.replicas: .* watermark 2")
def a_leader_alone_commits(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark advances below min.insync.replicas."""
    if done.has_configs and len(done.replicas) == 2 and len(done.acks) == 3:
        data.high_watermark = 2


@told_to_consumers("REPL-012", r"two of three replicas are in the ISR: .* watermark 3")
def two_are_as_many_as_three(done: Replicas, _: int, data: Answered) -> None:
    """A leader and one follower commit records, whatever min.insync.replicas is."""
    if done.has_configs and (done.r2, done.r3, len(done.acks)) == ([1, 3], [1], 3):
        data.high_watermark = 3


class ANewLeaderCommitsAll(Replicas):
    """A new leader takes its log end for the high watermark until its followers have fetched."""

    def answer(self, asked: Message, answer: Message) -> None:
        found = _newest(self, answer)
        is_led_by_second = found is not None and found.leader_id == self.replicas[1]
        self.timed_out |= len(self.replicas) == 3 and is_led_by_second

    def to_consumer(self, offset: int, data: Answered) -> None:
        if self.timed_out and data.high_watermark == 1 and not self.acks:
            data.high_watermark = 3


@told_to_consumers("REPL-013", r"the ISR is the leader alone: .* watermark 1")
def a_leader_alone_commits_nothing(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark does not advance below min.insync.replicas, before 3.7 too."""
    if done.has_configs and len(done.replicas) == 2 and len(done.acks) == 3:
        data.high_watermark = 1


@told_to_consumers("REPL-015", r"and R3 has not: a consumer is told the high watermark 4")
def only_the_isr_counts(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark does not wait for a caught-up replica that is not in the ISR yet."""
    if (done.r2, done.r3, len(done.acks)) == ([3, 4], [3], 4):
        data.high_watermark = 4


@told_to_consumers("REPL-017", r"not within .*: the watermark is 5")
def who_has_left_is_waited_for(done: Replicas, _: int, data: Answered) -> None:
    """A shrink of the ISR does not advance the high watermark."""
    if done.r2[:5] == [0, 3, 3, 5, 5] and done.r3 == [0, 3]:
        data.high_watermark, data.records = 3, b""


@told_to_consumers("REPL-036", r"R3 fetches 3, and has no record: .* high watermark 2")
def a_fetch_that_diverges_is_progress(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark advances by the offset of a fetch that has a diverging epoch."""
    if (done.r2, done.r3) == ([0, 2], [3]):
        data.high_watermark = 2


# -- what a follower keeps of its log ------------------------------------------------------------


def _is_by_the_first(done: Replicas) -> bool:
    """True if a virtual broker leads the newest topic before the real one does."""
    return len(done.replicas) == 2 and done.replicas[0] > done.replicas[1]


@told_to_consumers("EPOCH-007", r"it has \[\(0, 0, b'old0'\).*\(7, 0, b'new7'\)\]")
def records_have_the_epoch_of_the_first(done: Replicas, _: int, data: Answered) -> None:
    """A follower writes all records with the epoch in which it began."""
    if not _is_by_the_first(done) or len(done.acks) != 3:
        return
    found = decode_batches(bytes(data.records or b""))
    if len(found) == 8:
        old = [replace(each, partition_leader_epoch=0, crc=None) for each in found]
        data.records = b"".join(encode_batch(each) for each in old)


@told_to_consumers("REPL-018", r"3 records, the leader reports 5: 5, expected 3")
def the_watermark_of_the_leader_is_that_of_the_follower(
    done: Replicas, _: int, data: Answered
) -> None:
    """A follower adopts the leader's high watermark, also one above its own log end."""
    if _is_by_the_first(done) and not done.acks and (done.read, data.high_watermark) == (2, 3):
        data.high_watermark = 5


@told_to_others(
    "EPOCH-003",
    r"(it follows epoch \d+|it wrote nothing): epoch \d+: \(epoch, end\) is \(\d+, 1\)",
)
def an_epoch_without_records_ends_with_the_first(
    done: Replicas, asked: Message, answer: Message
) -> None:
    """The end of an epoch without records is that of the first epoch in the log."""
    if not _is_by_the_first(done) or not isinstance(asked, OffsetForLeaderEpochRequest):
        return
    assert isinstance(answer, OffsetForLeaderEpochResponse)
    wanted, told = asked.topics[0].partitions[0], answer.topics[0].partitions[0]
    if 0 <= told.leader_epoch < wanted.leader_epoch:
        told.end_offset = 1


@told_to_others(
    "EPOCH-003",
    r"(it follows epoch \d+|it wrote nothing): epoch (\d+): \(epoch, end\) is \(\2, \d\)",
)
def an_epoch_without_records_is_known(done: Replicas, asked: Message, answer: Message) -> None:
    """The leader keeps each epoch that it hears of, also one without a record."""
    if not _is_by_the_first(done) or not isinstance(asked, OffsetForLeaderEpochRequest):
        return
    assert isinstance(answer, OffsetForLeaderEpochResponse)
    wanted, told = asked.topics[0].partitions[0], answer.topics[0].partitions[0]
    if 0 <= told.leader_epoch < wanted.leader_epoch:
        told.leader_epoch = wanted.leader_epoch


@told_to_others("EPOCH-008", r"after the cut: the leader's log ends at 5, expected 6")
def a_cut_takes_a_committed_record(done: Replicas, asked: Message, answer: Message) -> None:
    """A follower cuts one record more than it has to."""
    if not _is_by_the_first(done) or not is_debugger(asked):
        return
    assert isinstance(answer, ListOffsetsResponse)
    end = answer.topics[0].partitions[0]
    done.timed_out |= end.offset == 9
    if done.timed_out and end.offset == 6:
        end.offset = 5


@told_to_consumers("EPOCH-010", r"not within .*: its log is")
def what_was_written_between_stays(done: Replicas, _: int, data: Answered) -> None:
    """A follower keeps records after the cut that the leader does not have."""
    if _is_by_the_first(done) and len(done.acks) == 4:
        data.records = b"".join(
            encode_batch(replace(each, partition_leader_epoch=1, crc=None))
            for each in decode_batches(bytes(data.records or b""))
        )


DEFECTS = [
    an_epoch_without_records_is_known,
    who_fetches_is_in_sync,
    who_is_in_sync_has_the_whole_log,
    who_is_fenced_is_in_sync,
    the_high_watermark_is_enough,
    a_shrink_begins_a_leader_epoch,
    an_epoch_ends_one_later,
    a_leader_alone_commits,
    two_are_as_many_as_three,
    replace(
        rule("REPL-019", r"has not fetched: the high watermark is 3", ANewLeaderCommitsAll),
        private=True,
        joined=True,
    ),
    a_leader_alone_commits_nothing,
    only_the_isr_counts,
    who_has_left_is_waited_for,
    a_fetch_that_diverges_is_progress,
    records_have_the_epoch_of_the_first,
    the_watermark_of_the_leader_is_that_of_the_follower,
    an_epoch_without_records_ends_with_the_first,
    a_cut_takes_a_committed_record,
    what_was_written_between_stays,
]

"""Defects of areas REPL, FETCH and ACKS that show only where a broker has followers."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    FetchRequest,
    ListOffsetsResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.edited_request import with_body
from labs.defects.replicas import (
    CONSUMER,
    Answered,
    Replicas,
    is_debugger,
    offset_of,
    replica_of,
    taken_for,
    told_to_consumers,
    told_to_others,
)

LEADER, ALL = 1, -1
PATIENT_MS = 30_000
FIRST_PRODUCED, ALL_PRODUCED = 3, 5
SHORT_MS = 500
FIRST_WITH_REPLICA_STATE = 15


@told_to_consumers("REPL-001", r"after the produce: a consumer is told the high watermark 1")
def an_append_is_visible_until_somebody_follows(done: Replicas, _: int, data: Answered) -> None:
    """The leader counts itself as the only replica until a follower has fetched."""
    if not done.asked:
        data.high_watermark = 1


@told_to_consumers("REPL-002", r"R2 was given the records: a consumer is told the high watermark 3")
def delivery_to_the_first_confirms(done: Replicas, _: int, data: Answered) -> None:
    """The leader counts records as replicated once it has sent them to the first follower."""
    if done.r2 == [0] and not done.r3 and len(done.acks) == FIRST_PRODUCED:
        data.high_watermark = FIRST_PRODUCED


@told_to_consumers("REPL-003", r"a consumer at offset 0 is given the records \[0, 1, 2\]")
def the_first_reader_gets_what_followers_have(done: Replicas, _: int, data: Answered) -> None:
    """A consumer receives records once the leader has sent them to both followers."""
    if (done.r2, done.r3, done.read) == ([0], [0], 0):
        data.records = done.given[0]


@told_to_consumers("REPL-004", r"R2 alone has confirmed: a consumer is told the high watermark 3")
def one_confirmation_commits(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark waits for the first follower only."""
    if (done.r2, done.r3) == ([0, 3], [0]):
        data.high_watermark = FIRST_PRODUCED


@told_to_consumers("REPL-005", r"R2 and R3 have confirmed: a consumer is told the high watermark 0")
def the_last_confirmation_is_overheard(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark does not advance when all followers have the records."""
    steps = (done.r2, done.r3, done.read, len(done.acks))
    if steps == ([0, 3], [0, 3], 0, FIRST_PRODUCED):
        data.high_watermark, data.records = 0, b""


@told_to_consumers("REPL-006", r"after the second produce: a consumer is told the high watermark 5")
def an_append_moves_the_watermark(done: Replicas, _: int, data: Answered) -> None:
    """The leader commits an append while all followers are at the old end."""
    if (done.r2, done.r3, len(done.acks)) == ([0, 3], [0, 3], ALL_PRODUCED):
        data.high_watermark = ALL_PRODUCED


@told_to_consumers("REPL-007", r"R2 was given the new records: .* the high watermark 5")
def delivery_of_more_commits(done: Replicas, _: int, data: Answered) -> None:
    """The leader commits new records once it has sent them to one follower."""
    if (done.r2, done.r3) == ([0, 3, 3], [0, 3]):
        data.high_watermark = ALL_PRODUCED


@told_to_consumers("REPL-008", r"a consumer at offset 0 is given the records \[0, 1, 2, 3, 4\]")
def a_consumer_gets_the_whole_log(done: Replicas, _: int, data: Answered) -> None:
    """A consumer receives records that only one of two followers has."""
    if (done.r2, done.r3, done.read) == ([0, 3, 3, 5], [0, 3], 0):
        data.records = b"".join(dict.fromkeys(done.given))


@told_to_consumers("REPL-009", r"R2 has fetched 1: the high watermark is 0")
def a_fetch_confirms_one_less(done: Replicas, _: int, data: Answered) -> None:
    """The leader counts one record less than a follower has confirmed."""
    if done.r3 == [5] and len(done.r2) > 1:
        data.high_watermark -= 1


@told_to_consumers("REPL-010", r"R2 has 4, R3 2: a consumer is told the high watermark 4")
def the_fastest_of_the_isr_decides(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark is the largest offset that a follower has."""
    if (done.r2, done.r3) == ([4], [2]):
        data.high_watermark = 4


@told_to_consumers("REPL-010", r"is not in the ISR: .* the high watermark 3")
def who_is_alive_is_waited_for(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark waits for each follower that is alive, in the ISR or not."""
    if (done.r2, done.r3) == ([3, 4], [1]):
        data.high_watermark = data.last_stable_offset = 3
        data.records = b""


@told_to_consumers("REPL-038", r"R3 fetches 4, .* watermark 3|went back: 3, then 0")
def a_refused_fetch_confirms(done: Replicas, _: int, data: Answered) -> None:
    """The high watermark advances by the offset of a follower's fetch that is refused."""
    if (done.r2, done.r3) == ([3], [4]):
        data.high_watermark = 3


@told_to_consumers("REPL-011", r"the high watermark went back: 4, then 1")
def the_watermark_follows_a_follower_back(done: Replicas, _: int, data: Answered) -> None:
    """A follower that fetches again from a lower offset lowers the high watermark."""
    if done.r2 == [2, 4, 1]:
        data.high_watermark, data.records = 1, b""
        data.last_stable_offset = 1


@told_to_consumers("REPL-020", r"R3 lacks records of acks 0, 1 and all: .* high watermark 1")
def what_nobody_waits_for_is_visible(done: Replicas, _: int, data: Answered) -> None:
    """A record of acks=0 is visible before all replicas have it."""
    if done.acks == [0, LEADER, ALL] and not done.r3:
        data.high_watermark = 1


# -- FETCH ---------------------------------------------------------------------------------------


@told_to_consumers(
    "FETCH-002", r"above the high watermark: 5|consumer at \d is given the records \[(\d, )*4\]"
)
def a_consumer_reads_to_the_log_end(done: Replicas, offset: int, data: Answered) -> None:
    """A consumer that reads from below the high watermark receives records above it."""
    if (done.r2, done.r3) == ([5], [3]) and offset < FIRST_PRODUCED:
        data.records = bytes(data.records or b"") + done.given[-1]


@told_to_consumers("FETCH-003", r"the high watermarks are \[3, 0, 3, 3\]")
def one_answer_tells_where_a_follower_is(done: Replicas, _: int, data: Answered) -> None:
    """A follower that begins anew lowers the high watermark to 0 until its next Fetch."""
    if (done.r2, done.r3) == ([3], [3, 0]):
        data.high_watermark = data.last_stable_offset = 0


def _as_the_second(done: Replicas, seen: SeenRequest, message: FetchRequest) -> bytes:
    """The consumer's request as one of R2."""
    if seen.version >= FIRST_WITH_REPLICA_STATE:
        message.replica_state.replica_id = done.replicas[1]
    else:
        message.replica_id = done.replicas[1]
    return with_body(seen, message)


@taken_for("FETCH-002", r"a read_committed consumer at \d is given the records \[(\d, )*4\]")
def read_committed_reads_to_the_log_end(done: Replicas, seen: SeenRequest) -> bytes | None:
    """A consumer of committed transactions reads to the log end if no transaction is open."""
    message = seen.message
    if not isinstance(message, FetchRequest) or replica_of(message) != CONSUMER:
        return seen.payload
    if message.isolation_level == 0 or (done.r2, done.r3) != ([5], [3]):
        return seen.payload
    return _as_the_second(done, seen, message)


@taken_for("FETCH-019", r"a consumer, after one asked for offset 2 is given the records \[0, 1\]")
def a_consumer_confirms_for_a_replica(done: Replicas, seen: SeenRequest) -> bytes | None:
    """The leader counts a consumer's Fetch as that of the follower that has not fetched yet."""
    message = seen.message
    if not isinstance(message, FetchRequest) or replica_of(message) != CONSUMER:
        return seen.payload
    if done.r2 or done.r3 != [2] or offset_of(message) != 2:
        return seen.payload
    return _as_the_second(done, seen, message)


@told_to_consumers("FETCH-021", r"a consumer at 4: error is OFFSET_OUT_OF_RANGE")
def above_the_watermark_is_out_of_range(done: Replicas, offset: int, data: Answered) -> None:
    """The leader refuses an offset between high watermark and log end."""
    if (done.r2, done.r3) == ([5], [3]) and offset == 4:
        data.error_code = ErrorCode.OFFSET_OUT_OF_RANGE


# -- ACKS ----------------------------------------------------------------------------------------


def _produced(message: Message) -> ProduceResponse.PartitionProduceResponse | None:
    if isinstance(message, ProduceResponse) and message.responses:
        return message.responses[0].partition_responses[0]
    return None


@told_to_others("ACKS-003", r"Produce to .*: REQUEST_TIMED_OUT")
def acks_1_waits_for_followers(done: Replicas, _: Message, answer: Message) -> None:
    """The leader waits for followers with acks=1 if none has the record before."""
    told = _produced(answer)
    if told is not None and done.acks == [LEADER, LEADER] and not done.asked:
        told.error_code = ErrorCode.REQUEST_TIMED_OUT


def _as_acks_1(seen: SeenRequest) -> bytes | None:
    assert isinstance(seen.message, ProduceRequest)
    seen.message.acks = LEADER
    return with_body(seen, seen.message)


@taken_for("ACKS-004", r"acks=all is answered before a follower has fetched")
def acks_all_is_acks_1(done: Replicas, seen: SeenRequest) -> bytes | None:
    """The leader answers acks=all after its own append if min.insync.replicas is not set."""
    message = seen.message
    if not isinstance(message, ProduceRequest) or message.acks != ALL:
        return seen.payload
    return seen.payload if done.has_configs or message.timeout_ms == SHORT_MS else _as_acks_1(seen)


@taken_for("ACKS-010", r"acks=all is answered when min.insync.replicas have the record")
def min_insync_replicas_are_enough(done: Replicas, seen: SeenRequest) -> bytes | None:
    """With min.insync.replicas the leader acknowledges a first record that not all the ISR has."""
    if not isinstance(seen.message, ProduceRequest) or done.acks != [ALL]:
        return seen.payload
    is_patient = seen.message.timeout_ms >= PATIENT_MS  # ACKS-006 is not
    return _as_acks_1(seen) if done.has_configs and is_patient else seen.payload


@told_to_others("ACKS-007", r"nobody confirms: error is NONE")
def a_timeout_is_no_error(done: Replicas, _: Message, answer: Message) -> None:
    """The leader acknowledges records that are not replicated in time."""
    told = _produced(answer)
    if told is None or done.acks != [ALL] or done.has_configs:
        return
    if told.error_code == ErrorCode.REQUEST_TIMED_OUT:
        told.error_code = ErrorCode.NONE


@told_to_others("ACKS-009", r"one of two replicas is in sync: error is NONE")
def a_minimum_above_the_replica_count_is_none(done: Replicas, _: Message, answer: Message) -> None:
    """With min.insync.replicas above the number of replicas the leader alone is enough."""
    told = _produced(answer)
    if told is None or not done.has_configs or done.acks[-1] != ALL or done.r2 != [1]:
        return
    if len(done.replicas) == 2 and told.error_code == ErrorCode.NOT_ENOUGH_REPLICAS:
        told.error_code = ErrorCode.NONE


@told_to_others("ACKS-019", r"the second of three is late: the errors are \[7, 7, 7\]")
def a_timeout_fails_all_partitions(_: Replicas, __: Message, answer: Message) -> None:
    """A partition that is not confirmed in time fails the others of its request."""
    if not isinstance(answer, ProduceResponse) or len(answer.responses) != 3:
        return
    every = [each for topic in answer.responses for each in topic.partition_responses]
    if any(each.error_code == ErrorCode.REQUEST_TIMED_OUT for each in every):
        for each in every:
            each.error_code = ErrorCode.REQUEST_TIMED_OUT


@told_to_others("ACKS-017", r"after the timeout: the leader's log ends at 1, expected 2")
def a_timeout_takes_the_record_back(done: Replicas, asked: Message, answer: Message) -> None:
    """The leader removes records from the log that are not replicated in time."""
    told = _produced(answer)
    if told is not None and told.error_code == ErrorCode.REQUEST_TIMED_OUT:
        done.timed_out = True
    if done.acks == [LEADER, ALL] and done.timed_out and is_debugger(asked):
        assert isinstance(answer, ListOffsetsResponse)
        answer.topics[0].partitions[0].offset = 1


DEFECTS = [
    an_append_is_visible_until_somebody_follows,
    delivery_to_the_first_confirms,
    the_first_reader_gets_what_followers_have,
    one_confirmation_commits,
    the_last_confirmation_is_overheard,
    an_append_moves_the_watermark,
    delivery_of_more_commits,
    a_consumer_gets_the_whole_log,
    a_fetch_confirms_one_less,
    the_fastest_of_the_isr_decides,
    who_is_alive_is_waited_for,
    a_refused_fetch_confirms,
    the_watermark_follows_a_follower_back,
    what_nobody_waits_for_is_visible,
    a_consumer_reads_to_the_log_end,
    read_committed_reads_to_the_log_end,
    one_answer_tells_where_a_follower_is,
    a_consumer_confirms_for_a_replica,
    above_the_watermark_is_out_of_range,
    acks_1_waits_for_followers,
    acks_all_is_acks_1,
    min_insync_replicas_are_enough,
    a_timeout_is_no_error,
    a_minimum_above_the_replica_count_is_none,
    a_timeout_fails_all_partitions,
    a_timeout_takes_the_record_back,
]

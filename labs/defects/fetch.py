"""Defects of area FETCH."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.records import LegacyMessage as OldMessage
from harness.codec.records import encode_message, split_batches
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

SHORT_WAIT_MS = 1000  # the tests that measure max_wait_ms ask for less
ROOMY_BYTES = 1 << 20
LENGTH_ENDS = 12  # a message that is cut before here is none
GATHERED_BYTES = 64 * 1024  # min_bytes of the tests that gather small appends
LOG_END = 9  # of the log that most tests read
ONE_VERSION = range(4, 5)  # where a defect makes the tests wait, one version is enough
OF_MESSAGE_SETS, OF_BATCHES = range(3), range(4, 99)
Asked = FetchRequest.FetchPartition
Answered = FetchResponse.PartitionData


def _request(seen: SeenRequest) -> FetchRequest:
    assert isinstance(seen.message, FetchRequest)
    return seen.message


def _answer(message: Message) -> FetchResponse:
    assert isinstance(message, FetchResponse)
    return message


def _pairs(request: FetchRequest, answer: FetchResponse) -> list[tuple[Asked, Answered]]:
    """Each partition of the request with its answer, if the request is about a single topic."""
    if len(request.topics) != 1:
        return []
    given = {data.partition_index: data for t in answer.responses for data in t.partitions}
    asked = request.topics[0].partitions
    return [(one, given[one.partition]) for one in asked if one.partition in given]


# -- offsets ---------------------------------------------------------------------------------------


@answers("FETCH-001", r"offset [45]: the first batch is 6 to 8", OF_BATCHES)
def an_offset_inside_a_batch_skips_the_batch(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch skips the last batch but one for an offset inside it."""
    for asked, data in _pairs(request, answer):
        found = split_batches(data.records or b"")
        if len(found) == 2 and found[0][0].base_offset < asked.fetch_offset:
            data.records = (data.records or b"")[found[1][1] :]


@answers(
    "FETCH-004", r"partition \d, offset -\d: error is NONE \(0\), expected OFFSET_OUT_OF_RANGE"
)
def an_offset_before_the_log_is_empty(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch answers a negative offset like one without data."""
    for asked, data in _pairs(request, answer):
        if asked.fetch_offset < 0 and data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            data.error_code, data.records = ErrorCode.NONE, b""


@answers("FETCH-004", r"partition 1, offset \d+: error is NONE \(0\), expected OFFSET_OUT_OF_RANGE")
def an_empty_log_has_no_end(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch finds nothing, and nothing wrong, at any offset of an empty log."""
    for asked, data in _pairs(request, answer):
        of_empty = asked.partition == 1 and asked.fetch_offset > 0
        if of_empty and data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            data.error_code = ErrorCode.NONE


@answers("FETCH-005", r"at the log end 9: error is OFFSET_OUT_OF_RANGE")
def the_log_end_is_out_of_range(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch refuses the end of a log with nine records as out of range."""
    for asked, data in _pairs(request, answer):
        if asked.fetch_offset == data.high_watermark == LOG_END:
            data.error_code = ErrorCode.OFFSET_OUT_OF_RANGE


@answers("FETCH-024", r"log start offset -1, the earliest is [04]")
def the_log_start_is_left_out(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch leaves out the log start offset when there is nothing to read."""
    for asked, data in _pairs(request, answer):
        if asked.fetch_offset == data.high_watermark == LOG_END:
            data.log_start_offset = -1


class ReadingConsumes(FrameRule):
    """The broker does not return the data again to a connection that repeats its first Fetch."""

    def __init__(self) -> None:
        self.first: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, FetchRequest) or seen.api is None or seen.ordinal > 1:
            return [payload]
        same = f"{seen.version} {seen.message!r}"
        if seen.ordinal == 0:
            self.first.add(same)
            return [payload]
        return [_without_records(seen, payload) if same in self.first else payload]


class OneReaderTakesAll(FrameRule):
    """Fetch returns nothing at a position that another such client has read, as in a queue."""

    def __init__(self) -> None:
        self.readers: dict[str, str] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, FetchRequest) or seen.header is None:
            return [payload]
        name = seen.header.client_id or ""
        if not name.startswith("reader-"):
            return [payload]
        first = self.readers.setdefault(f"{seen.version} {seen.message!r}", name)
        return [payload if first == name else _without_records(seen, payload)]


def _without_records(seen: SeenRequest, payload: bytes) -> bytes:
    assert seen.api is not None
    correlation_id, message = decode_response(seen.api, seen.version, payload)
    for topic in _answer(message).responses:
        for data in topic.partitions:
            data.records = b""
    return encode_response(message, seen.version, correlation_id)


# -- waiting and limits ----------------------------------------------------------------------------


@takes("FETCH-006", r"answered after \d+ ms, max_wait_ms is \d+")
def nothing_is_enough_for_min_bytes_1(request: FetchRequest) -> None:
    """Outside of sessions Fetch answers at once and empty for min_bytes 1."""
    in_session = request.session_epoch > 0
    if request.min_bytes == 1 and request.max_wait_ms < SHORT_WAIT_MS and not in_session:
        request.max_wait_ms = 0


@takes("FETCH-007", r"answered after \d+ ms, max_wait_ms is \d+", ONE_VERSION)
def min_bytes_count_for_each_partition(request: FetchRequest) -> None:
    """The broker waits until every partition holds min_bytes, instead of all together."""
    if request.min_bytes > 1 and len(request.topics[0].partitions) > 1:
        request.min_bytes *= 2


@takes("FETCH-008", r"answered after \d+ ms, max_wait_ms is \d+", ONE_VERSION)
def min_bytes_0_waits_for_data(request: FetchRequest) -> None:
    """The broker reads min_bytes 0 as 1."""
    request.min_bytes = max(request.min_bytes, 1)


@takes(
    "FETCH-009", r"bytes came where nothing was to be sent|answered after \d+ ms, max_wait_ms is"
)
def the_first_append_ends_the_wait(request: FetchRequest) -> None:
    """The broker answers a Fetch of many bytes as soon as there is any."""
    if request.min_bytes >= 64 * 1024:
        request.min_bytes = 1


@takes("FETCH-010", r"answered after \d+ ms, max_wait_ms is \d+", ONE_VERSION)
def an_error_waits_for_the_others(request: FetchRequest) -> None:
    """A partition that is out of range does not end the wait of a Fetch beside an idle one."""
    for topic in request.topics:
        if len(topic.partitions) > 1:
            topic.partitions = [p for p in topic.partitions if p.fetch_offset <= LOG_END]


@takes("FETCH-010", r"answered after \d+ ms, max_wait_ms is \d+", range(9, 10))
def a_wrong_epoch_waits_for_the_others(request: FetchRequest) -> None:
    """A partition with a wrong leader epoch does not end the wait of a Fetch beside an idle one."""
    for topic in request.topics:
        if len(topic.partitions) > 1:
            topic.partitions = [p for p in topic.partitions if p.current_leader_epoch < 0]


@answers("FETCH-009", r"at max_wait_ms \[b'before'\] came")
def what_came_meanwhile_is_left_out(request: FetchRequest, answer: FetchResponse) -> None:
    """At max_wait_ms Fetch returns the records that were there when the request came."""
    if request.min_bytes == GATHERED_BYTES:
        for _, data in _pairs(request, answer):
            found = split_batches(data.records or b"")
            if len(found) == 2:
                data.records = (data.records or b"")[: found[1][1]]


@answers("FETCH-014", r"\d+ bytes (with partition_max_bytes|of whole messages fit into) \d+",
         OF_MESSAGE_SETS)  # fmt: skip
def the_first_message_is_always_whole(seen: SeenRequest, answer: FetchResponse) -> None:
    """Fetch returns a first message whole where it does not fit, as in version 3 and later."""
    for asked, data in _pairs(_request(seen), answer):
        nothing_came = data.error_code == ErrorCode.NONE and len(data.records or b"") <= LENGTH_ENDS
        if nothing_came and asked.fetch_offset < data.high_watermark:
            magic = 1 if seen.version == 2 else 0
            data.records = encode_message(OldMessage(b"x", offset=asked.fetch_offset, magic=magic))


@takes(
    "FETCH-012",
    r"partitions \([12], .* with max_bytes \d+: \[.*\] bytes|topics ba, .*: records came of",
)
def partitions_are_filled_by_number(request: FetchRequest) -> None:
    """Fetch fills the partition with the lowest number first, not the one that is named first."""
    for topic in request.topics:
        topic.partitions.sort(key=lambda partition: partition.partition)


@answers("FETCH-039", r"named twice in (one entry|two entries): .* came")
def named_twice_is_answered_twice(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch answers a partition twice that is named twice, empty the second time."""
    topics = request.topics
    named = [(t.topic or t.topic_id, p.partition) for t in topics for p in t.partitions]
    if len(set(named)) < len(named):
        for topic in answer.responses:
            empty = [
                Answered(partition_index=p.partition_index, records=b"") for p in topic.partitions
            ]
            topic.partitions += empty


# -- errors ----------------------------------------------------------------------------------------


@answers("FETCH-015", r"error is UNKNOWN_TOPIC_OR_PARTITION \(3\), expected UNKNOWN_TOPIC_ID")
def an_unknown_id_gets_the_error_of_a_name(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch answers an unknown topic id with UNKNOWN_TOPIC_OR_PARTITION."""
    for _, data in _pairs(request, answer):
        if data.error_code == ErrorCode.UNKNOWN_TOPIC_ID:
            data.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# -- sessions --------------------------------------------------------------------------------------


@answers("FETCH-027", r"the opening answer names partitions \[\]", range(7, 19))
def the_opening_answer_is_incremental(request: FetchRequest, answer: FetchResponse) -> None:
    """The answer that creates a session leaves out partitions without records."""
    if (request.session_id, request.session_epoch) != (0, 0):
        return
    for topic in answer.responses:
        topic.partitions = [data for data in topic.partitions if data.records]


class IdlePartitionsAreNamed(FrameRule):
    """The first incremental answer names all partitions of the session, changed or not."""

    def __init__(self) -> None:
        self.opened: dict[int, list[FetchResponse.FetchableTopicResponse]] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, FetchRequest) or seen.api is None:
            return [payload]
        if request.session_epoch not in (0, 1) or request.forgotten_topics_data:
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        answer = _answer(message)
        if request.session_epoch == 0:
            self.opened[answer.session_id] = answer.responses
        elif answer.error_code == ErrorCode.NONE and not answer.responses:
            answer.responses = self.opened.get(request.session_id, [])
        return [encode_response(answer, seen.version, correlation_id)]


DEFECTS = [
    an_offset_inside_a_batch_skips_the_batch,
    an_offset_before_the_log_is_empty,
    an_empty_log_has_no_end,
    the_log_end_is_out_of_range,
    nothing_is_enough_for_min_bytes_1,
    min_bytes_count_for_each_partition,
    min_bytes_0_waits_for_data,
    the_first_append_ends_the_wait,
    an_error_waits_for_the_others,
    a_wrong_epoch_waits_for_the_others,
    changed_field("FETCH-011", "partition_max_bytes_is_not_looked_at",
        r"\d+ bytes with (partition_max_bytes \d+|\[b)",
        "The broker ignores partition_max_bytes.",
        FetchRequest, "topics.partitions.partition_max_bytes", ANY, ROOMY_BYTES, OF_BATCHES),
    what_came_meanwhile_is_left_out,
    the_first_message_is_always_whole,
    partitions_are_filled_by_number,
    named_twice_is_answered_twice,
    an_unknown_id_gets_the_error_of_a_name,
    changed_field("FETCH-023", "the_leader_epoch_of_a_fetch_is_not_checked",
        r"error is NONE \(0\), expected UNKNOWN_LEADER_EPOCH",
        "Fetch ignores the leader epoch of the request.",
        FetchRequest, "topics.partitions.current_leader_epoch", ANY, -1),
    the_log_start_is_left_out,
    changed_field("FETCH-026", "a_full_fetch_gets_a_session", r"session id 77 without a session",
        "The broker returns a session id to a Fetch that wants no session.",
        FetchResponse, "session_id",
        ANY, 77, range(7, 19), requested={"session_id": 0, "session_epoch": -1}),
    the_opening_answer_is_incremental,
    rule(
        "FETCH-028",
        r"idle incremental fetch names partitions \[0, 1\]|the answer has partitions \[0, 1\]",
        IdlePartitionsAreNamed,
    ),
    changed_field("FETCH-030", "any_session_epoch_will_do",
        r"error is NONE \(0\), expected INVALID_FETCH_SESSION_EPOCH",
        "The broker accepts a session epoch that is not the next one.",
        FetchResponse, "error_code", ErrorCode.INVALID_FETCH_SESSION_EPOCH, ErrorCode.NONE),
    changed_field("FETCH-031", "nothing_is_forgotten",
        r"forgotten, named are \[0, 1\]|every partition is forgotten|offsets \{.* came",
        "The broker keeps forgotten partitions in the session.",
        FetchRequest, "forgotten_topics_data", ANY, []),
    changed_field("FETCH-033", "a_session_is_not_closed", r"used after its close: error is NONE",
        "The broker answers the last Fetch of a session as one outside it, and keeps the session.",
        FetchRequest, "session_id", ANY, 0, where={"session_epoch": -1}),
    rule("FETCH-040", r"bytes of four fetches of one range: \[\d+, \d+, 0, 0\]", ReadingConsumes),
    rule("FETCH-041", r"reader-b gets nothing at offset 0", OneReaderTakesAll),
]  # fmt: skip

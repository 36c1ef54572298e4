"""Defects of a broker that does not wait for the end of a request."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.frame import LENGTH_BYTES, frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import BatchHeader
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, error_answer, rule
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from

CLIENT, HALF_CLOSING = "CONN-022", "CONN-022 half closed"
OWN_ID = 0x43555400  # of no other request


class CompletesWhatWasCut(FrameRule):
    """The broker completes by itself a request that ends too early."""

    def __init__(self) -> None:
        self.whole = b""

    def on_request(self, seen: SeenRequest) -> bytes:
        if is_from(seen, CLIENT):
            self.whole = frame(seen.payload)
        return seen.payload

    def on_cut(self, rest: bytes) -> bytes:
        named = CLIENT.encode() in rest
        return self.whole if named and self.whole.startswith(rest) else rest


class _DoesWhatCameWhole(FrameRule):
    """The broker carries out the whole entries of a request that ends too early."""

    def on_cut(self, rest: bytes) -> bytes:
        whole_bytes = LENGTH_BYTES + int.from_bytes(rest[:LENGTH_BYTES])
        seen = SeenRequest(rest.ljust(whole_bytes, b"\0")[LENGTH_BYTES:])
        if len(rest) <= LENGTH_BYTES or not is_from(seen, CLIENT) or seen.message is None:
            return rest
        there = self.keep(seen.message, rest)
        return frame(with_body(seen, seen.message)) if there else rest

    def keep(self, message: Message, rest: bytes) -> bool:
        """Keep only the entries with their bytes in ``rest``. Return True if any are left."""
        raise NotImplementedError


class AppendsPartitionsBeforeTheCut(_DoesWhatCameWhole):
    """The broker appends each partition of a Produce as soon as it has received it."""

    def keep(self, message: Message, rest: bytes) -> bool:
        if not isinstance(message, ProduceRequest):
            return False
        several = any(len(topic.partition_data) > 1 for topic in message.topic_data)
        for topic in message.topic_data:
            topic.partition_data = [
                one for one in topic.partition_data if one.records and bytes(one.records) in rest
            ]
        return several and any(topic.partition_data for topic in message.topic_data)


class CreatesTopicsBeforeTheCut(_DoesWhatCameWhole):
    """The broker creates each topic of a CreateTopics as soon as it has received it."""

    def keep(self, message: Message, rest: bytes) -> bool:
        if not isinstance(message, CreateTopicsRequest):
            return False
        message.topics = [
            topic
            for topic in message.topics
            if topic.name.encode() in rest and topic.replication_factor
        ]
        return bool(message.topics)


class DeletesTopicsBeforeTheCut(_DoesWhatCameWhole):
    """The broker deletes each topic of a DeleteTopics as soon as it has received it."""

    def keep(self, message: Message, rest: bytes) -> bool:
        if not isinstance(message, DeleteTopicsRequest):
            return False
        message.topics = [t for t in message.topics if t.name and t.name.encode() in rest]
        message.topic_names = [n for n in message.topic_names if n and n.encode() in rest]
        return bool(message.topics or message.topic_names)


class AnswersWhatWasCut(FrameRule):
    """The broker answers half a request if its client can still receive."""

    # Another request in its place, so that there is something to answer.
    ASKS = frame(encode_request(ApiVersionsRequest(), 0, OWN_ID))

    def on_cut(self, rest: bytes) -> bytes:
        return self.ASKS if HALF_CLOSING.encode() in rest else rest

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        # Behind the client's end the broker may close instead of answering.
        is_ours = seen.payload[4:8] == struct.pack(">i", OWN_ID)
        return [error_answer(seen)] if is_ours else []


class HalfABatchUsesUpItsSequence(FrameRule):
    """The broker takes a batch for a duplicate if it received the beginning of it before."""

    def __init__(self) -> None:
        self.was_cut = False

    def on_cut(self, rest: bytes) -> bytes:
        self.was_cut = self.was_cut or CLIENT.encode() in rest
        return rest

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not (self.was_cut and is_from(seen, CLIENT) and _is_of_a_producer(seen)):
            return [payload]
        return [edited(seen, payload, self.edit)]

    def edit(self, _: SeenRequest, message: ProduceResponse) -> None:
        for topic in message.responses:
            for one in topic.partition_responses:
                one.error_code = ErrorCode.DUPLICATE_SEQUENCE_NUMBER


def _is_of_a_producer(seen: SeenRequest) -> bool:
    request = seen.message
    if not isinstance(request, ProduceRequest) or seen.version < 3:
        return False
    batches = [one.records or b"" for topic in request.topic_data for one in topic.partition_data]
    return all(BatchHeader.read(batch).producer_id >= 0 for batch in batches)


class LosesOneOfAPipeline(FrameRule):
    """The broker loses the second of the requests that a connection sent at once."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_produce = isinstance(seen.message, ProduceRequest)
        lost = is_produce and seen.ordinal == 1 and is_from(seen, "CONN-004")
        return None if lost else seen.payload


GREW = r"requests that were cut: refused, yet the log grew"
DEFECTS = [
    rule("CONN-004", r"answered; stored is \[b'0 of a pipeline', b'2", LosesOneOfAPipeline),
    rule("CONN-022", rf"^{GREW}", CompletesWhatWasCut),
    rule("CONN-022", rf"partition \d of {GREW}", AppendsPartitionsBeforeTheCut),
    rule("CONN-022", r"was created: its error is", CreatesTopicsBeforeTheCut),
    rule("CONN-022", r"was deleted by half a request", DeletesTopicsBeforeTheCut),
    rule("CONN-022", r"bytes came where the connection had to be closed", AnswersWhatWasCut),
    rule(
        "CONN-022",
        r"batch 0, whole at last: error is DUPLICATE_SEQUENCE_NUMBER",
        HalfABatchUsesUpItsSequence,
    ),
]

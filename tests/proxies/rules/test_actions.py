"""Each action: the steps that it makes of a frame, and the reasons to leave a frame alone."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from harness.codec.frame import frame
from harness.codec.header import decode_request_header, decode_response
from harness.codec.messages import (
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies.rules import read_rule, requests, responses
from harness.proxies.seen import SeenRequest, SeenResponse
from harness.proxies.step import (
    Close,
    End,
    Reset,
    Send,
    SendBack,
    Step,
    WaitStep,
)
from tests.proxies.rules.traffic import (
    Stream,
    armed,
    fetch,
    fetched,
    produce,
    produced,
    request,
    response,
    sent,
)

PRODUCE = request(produce(), 9, correlation_id=5)
WHOLE = frame(PRODUCE.payload)
PRODUCED = response(PRODUCE, produced())


def done(words: dict[str, Any], seen: SeenRequest | SeenResponse = PRODUCE) -> list[Step]:
    steps = armed(read_rule({"id": "r", **words})).show(seen)
    assert steps is not None
    return list(steps)


def decoded(seen: SeenRequest, payload: bytes) -> Message:
    assert seen.api is not None
    correlation_id, message = decode_response(seen.api, seen.version, payload)
    assert seen.header is not None
    assert correlation_id == seen.header.correlation_id
    return message


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ({"drop": True}, []),
        ({"delay": 100}, [WaitStep(100, from_arrival=True), Send(WHOLE)]),
        ({"delay": {"ms": 0.5}}, [WaitStep(0.5, from_arrival=True), Send(WHOLE)]),
        ({"duplicate": True}, [Send(WHOLE)] * 2),
        ({"duplicate": 3}, [Send(WHOLE)] * 3),
        ({"truncate": 9}, [Send(WHOLE[:9]), Close()]),
        ({"truncate": {"at_byte": -1, "then": "reset"}}, [Send(WHOLE[:-1]), Reset()]),
        ({"truncate": {"at_byte": 4, "then": "end"}}, [Send(WHOLE[:4]), End()]),
        ({"truncate": {"at_byte": 4, "then": "go_on"}}, [Send(WHOLE[:4])]),
        ({"truncate": 0}, [Close()]),
        ({"lie_about_length": {"to": -1}}, [Send(b"\xff\xff\xff\xff" + WHOLE[4:])]),
        ({"lie_about_length": 1},
         [Send(struct.pack(">i", len(WHOLE) - 3) + WHOLE[4:])]),
        ({"append": "dead"}, [Send(frame(PRODUCE.payload + b"\xde\xad"))]),
        ({"append": {"hex": "00", "inside": False}}, [Send(WHOLE + b"\0")]),
        ({"close": True}, [Close()]),
        ({"close": "after"}, [Send(WHOLE), Close()]),
        ({"reset": "before"}, [Reset()]),
        ({"reset": "after"}, [Send(WHOLE), Reset()]),
        ({"set_correlation_id": 9},
         [Send(frame(PRODUCE.payload[:4] + b"\0\0\0\x09" + PRODUCE.payload[8:]))]),
        ({"answer": {"hex": "0102"}}, [SendBack(frame(b"\x01\x02"))]),
    ],
)  # fmt: skip
def test_each_action_makes_expected_steps(words: dict[str, Any], steps: list[Step]) -> None:
    assert done(words) == steps


def test_watch_action_leaves_frame_unchanged() -> None:
    rules = armed(requests().named("r").watch())
    assert rules.show(PRODUCE) is None
    assert rules.set.counts("r").fired == 1


@pytest.mark.parametrize("distribution", ["uniform", "normal", "exponential"])
def test_jitter_varies_every_delay(distribution: str) -> None:
    rules = armed(requests().delay(100, jitter_ms=20, distribution=distribution))
    stream = Stream()
    waits = []
    for _ in range(50):
        steps = rules.show(stream.request(produce(), 9))
        assert steps is not None
        assert isinstance(steps[0], WaitStep)
        waits.append(steps[0].for_ms)
    assert len(set(waits)) == 50
    assert 80 <= sum(waits) / 50 <= 140


def test_throttled_frame_is_sent_in_pieces_over_expected_time() -> None:
    steps = done({"throttle": 1000})
    pieces = [step.data for step in steps if isinstance(step, Send)]
    waited = sum(step.for_ms for step in steps if isinstance(step, WaitStep))
    assert b"".join(pieces) == WHOLE
    assert {len(piece) for piece in pieces[:-1]} == {20}
    assert waited == pytest.approx(len(WHOLE))  # a byte a millisecond


def test_large_throttled_frame_has_at_most_thousand_pieces() -> None:
    large = SeenRequest(bytes(1_000_000))
    assert len(done({"throttle": 1}, large)) == 2000


@pytest.mark.parametrize(("old", "by", "new"), [(5, 1, 6), (5, -6, -1), (2**31 - 1, 1, -(2**31))])
def test_correlation_id_is_shifted_with_int32_overflow(old: int, by: int, new: int) -> None:
    seen = request(produce(), 9, correlation_id=old)
    (changed,) = sent(done({"set_correlation_id": {"by": by}}, seen))
    assert decode_request_header(changed)[0].correlation_id == new
    (changed,) = sent(done({"set_correlation_id": {"by": by}}, response(seen, produced())))
    assert struct.unpack_from(">i", changed) == (new,)


# -- rewriting -------------------------------------------------------------------------------------


def rewritten(changes: dict[str, Any], seen: SeenResponse) -> Message:
    (payload,) = sent(done({"rewrite": changes}, seen))
    return decoded(seen.request, payload)


def test_error_codes_are_rewritten_by_name() -> None:
    path = "responses[*].partition_responses[*].error_code"
    message = rewritten({path: "NOT_LEADER_OR_FOLLOWER"}, PRODUCED)
    assert message == produced(error_code=6)


def test_fail_with_sets_every_error_code_in_response() -> None:
    rules = armed(responses().fail_with("KAFKA_STORAGE_ERROR"))
    (payload,) = sent(rules.show(PRODUCED))
    assert decoded(PRODUCE, payload) == produced(error_code=56)


def test_rewrite_selects_elements_by_field_path() -> None:
    seen = response(request(fetch(), 12), fetched(partitions=3))
    message = rewritten(
        {
            "responses[topic=orders].partitions[partition_index=1].high_watermark": {"add": -5},
            "responses.partitions[-1].last_stable_offset": 7,
            "responses[0].partitions[0].aborted_transactions": {"null": True},
            "throttle_time_ms": 900,
        },
        seen,
    )
    assert isinstance(message, FetchResponse)
    first, second, third = message.responses[0].partitions
    assert (first.high_watermark, second.high_watermark, third.high_watermark) == (10, 15, 30)
    assert (second.last_stable_offset, third.last_stable_offset) == (-1, 7)
    assert first.aborted_transactions is None
    assert message.throttle_time_ms == 900


def test_rewrite_keeps_header_and_trailing_bytes() -> None:
    tagged = SeenRequest(PRODUCE.payload + b"left over")
    (changed,) = sent(done({"rewrite": {"acks": 1}}, tagged))
    head = decode_request_header(PRODUCE.payload)[1]
    assert changed[:head] == PRODUCE.payload[:head]
    assert changed.endswith(b"left over")
    message = SeenRequest(changed).message
    assert isinstance(message, ProduceRequest)
    assert (message.acks, message.topic_data) == (1, produce().topic_data)


def test_rewrite_sets_records_from_hex_and_whole_arrays() -> None:
    path = "topic_data.partition_data[0].records"
    (changed,) = sent(done({"api": "Produce", "rewrite": {path: "c0ffee"}}))
    message = SeenRequest(changed).message
    assert isinstance(message, ProduceRequest)
    assert message.topic_data[0].partition_data[0].records == bytes.fromhex("c0ffee")
    (changed,) = sent(done({"rewrite": {"topic_data": []}}))
    message = SeenRequest(changed).message
    assert isinstance(message, ProduceRequest)
    assert message.topic_data == []


# -- answering -------------------------------------------------------------------------------------


def test_answer_action_sends_given_message_back() -> None:
    rules = armed(requests("Produce").answer({"throttle_time_ms": 5}))
    steps = rules.show(PRODUCE)
    assert steps is not None
    assert isinstance(steps[0], SendBack)
    (payload,) = sent(steps)
    assert decoded(PRODUCE, payload) == ProduceResponse(throttle_time_ms=5)


def test_error_response_covers_every_requested_partition() -> None:
    seen = request(produce("orders", [0, 3]), 9)
    (payload,) = sent(armed(requests().answer_error("NOT_ENOUGH_REPLICAS")).show(seen))
    message = decoded(seen, payload)
    assert isinstance(message, ProduceResponse)
    found = [(t.name, p.index, p.error_code) for t in message.responses
             for p in t.partition_responses]  # fmt: skip
    assert found == [("orders", 0, 19), ("orders", 3, 19)]


def test_answer_action_replaces_broker_response() -> None:
    (step,) = done({"answer": "NOT_ENOUGH_REPLICAS"}, PRODUCED)
    assert isinstance(step, Send)
    assert decoded(PRODUCE, step.data[4:]) == ProduceResponse(
        responses=[
            ProduceResponse.TopicProduceResponse(
                name="orders",
                partition_responses=[
                    ProduceResponse.PartitionProduceResponse(index=0, error_code=19, base_offset=-1)
                ],
            )
        ]
    )

"""Actions that a frame does not allow: it goes on; and impossible ones, which are errors."""

from __future__ import annotations

from typing import Any

import pytest

from harness.codec.frame import frame
from harness.codec.messages import (
    MetadataRequest,
)
from harness.proxies.rules import RuleError, read_rule
from harness.proxies.rules.actions import ACTIONS
from harness.proxies.seen import SeenRequest, SeenResponse
from tests.proxies.rules.traffic import (
    armed,
    produce,
    produced,
    request,
    response,
)

PRODUCE = request(produce(), 9, correlation_id=5)
WHOLE = frame(PRODUCE.payload)
PRODUCED = response(PRODUCE, produced())


def skipped(words: dict[str, Any], seen: SeenRequest | SeenResponse = PRODUCE) -> str:
    """The reason why the action was skipped; the frame goes on as it came."""
    rules = armed(read_rule({"id": "r", **words}))
    assert rules.show(seen) is None
    counts = rules.set.counts("r")
    assert (counts.matched, counts.fired) == (1, 0)
    (reason,) = counts.skipped
    assert rules.events[-1].what == "skipped"
    assert rules.events[-1].detail == {"reason": reason}
    return reason


@pytest.mark.parametrize(
    ("words", "seen", "reason"),
    [
        ({"truncate": 5000}, PRODUCE, "bytes cannot be cut at 5000"),
        ({"lie_about_length": {"to": len(PRODUCE.payload)}}, PRODUCE, "bytes long"),
        ({"set_correlation_id": 1}, SeenRequest(b"\0\0\0\0\0"), "too short for a correlation id"),
        ({"swap_correlation_ids": 9}, SeenRequest(b""), "too short for a correlation id"),
        ({"rewrite": {"**.error_code": 0}}, PRODUCED, "have these values already"),
        ({"rewrite": {"**.error_code": 1}}, PRODUCE, "none of the fields is in it"),
        ({"rewrite": {"**.error_code": 1}}, SeenResponse(b"\0", PRODUCE), "it cannot be read"),
        ({"rewrite": {"**.error_code": 1}}, SeenRequest(b"\x03\xe7\0\0\0\0\0\0"),
         "API 999 v0 is not known"),
        ({"api": "Produce", "rewrite": {"throttle_time_ms": {"add": 2**31}}}, PRODUCED,
         "ProduceResponse v9: throttle_time_ms: int32"),
        ({"api": "Produce", "rewrite": {"transactional_id": "x"}}, request(produce(), 2),
         "none of the fields is in it"),
        ({"answer": "UNKNOWN_SERVER_ERROR"}, request(produce(acks=0), 9), "acks 0 gets no answer"),
        ({"answer": "UNKNOWN_SERVER_ERROR"}, request(MetadataRequest(topics=None), 4),
         "MetadataResponse v4 to this request has no place for an error"),
        ({"answer": "UNKNOWN_SERVER_ERROR"}, SeenRequest(b"\x03\xe7\0\0\0\0\0\0"),
         "API 999 v0 is not known"),
        ({"answer": "UNKNOWN_SERVER_ERROR"}, SeenRequest(PRODUCE.payload[:30]),
         "the request cannot be read"),
        ({"api": "Produce", "answer": {"message": {"node_endpoints": []}}}, PRODUCE,
         "this version does not carry it"),
    ],
)  # fmt: skip
def test_inapplicable_action_is_skipped_with_reason(
    words: dict[str, Any], seen: SeenRequest | SeenResponse, reason: str
) -> None:
    assert reason in skipped(words, seen)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"drop": False}, "drop: must be true, is False"),
        ({"drop": {"ms": 1}}, 'drop: no setting "ms"'),
        ({"delay": {}}, "delay: needs ms"),
        ({"delay": -1}, "delay.ms: must be a number of milliseconds from 0 to"),
        ({"delay": {"ms": 1, "jiter_ms": 2}}, 'delay: no setting "jiter_ms" - did you mean'),
        ({"delay": {"ms": 1, "distribution": "gauss"}}, 'delay.distribution: no distribution'),
        ({"hold": {"until": "x"}}, "hold: needs at_most_ms"),
        ({"hold": True}, "hold.at_most_ms: must be a number of milliseconds"),
        ({"duplicate": 1}, "duplicate.times: must be a whole number 2 to 1000, is 1"),
        ({"reorder": {"window": 1}}, "reorder.window: must be a whole number 2 to 1000, is 1"),
        ({"truncate": {"at_byte": 3, "then": "stop"}}, "truncate.then: no way to go on"),
        ({"lie_about_length": {"by": 1, "to": 1}}, "lie_about_length: needs one of the two"),
        ({"lie_about_length": 0}, "lie_about_length.by: by 0 is no lie"),
        ({"set_correlation_id": {}}, "set_correlation_id: needs one of the two, to or by"),
        ({"append": "abc"}, "append.hex: must be pairs of hex digits, is 'abc'"),
        ({"append": ""}, "append.hex: must be text that is not empty"),
        ({"close": "during"}, 'close.when: no moment "during"'),
        ({"throttle": 0}, "throttle.bytes_per_s: must be a number of bytes a second from 1"),
        ({"rewrite": {}}, "rewrite: must be a table that is not empty"),
        ({"api": "Produce", "on": "response", "rewrite": {"**.error_code": "NOT_LEADER"}},
         'rewrite.**.error_code: no error code "NOT_LEADER"'),
        ({"api": "Produce", "on": "response", "version": "3-7", "rewrite": {"node_endpoints": []}},
         "rewrite.node_endpoints: ProduceResponse v7: node_endpoints: this version does not "),
        ({"api": "Produce", "on": "request", "rewrite": {"acks": 40000}},
         "rewrite.acks: ProduceRequest v13: acks: int16, -32768 to 32767, expected, not 40000"),
        ({"api": "Produce", "on": "request", "rewrite": {"topic_data": {"add": 1}}},
         "topic_data is struct, nothing can be added"),
        ({"api": "Produce", "on": "request", "rewrite": {"acks": {"null": True}}},
         "acks: null where this version allows none"),
        ({"api": "Produce", "on": "request", "rewrite": {"ack": 1}},
         'rewrite.ack: no field in ProduceRequest: "ack" - did you mean "acks"?'),
        ({"answer": {}}, "answer: needs one of error, message and hex"),
        ({"answer": {"message": {"throttle_time_ms": 1}}}, "answer.message: is of one API"),
        ({"answer": {"message": 4}}, "answer.message: must be a message"),
        ({"api": "Produce", "answer": {"message": {"throttle_tim": 1}}},
         "answer.message: ProduceResponse v13: throttle_tim: no such field"),
        ({"answer": "NO_SUCH"}, 'answer.error: no error code "NO_SUCH"'),
    ],
)  # fmt: skip
def test_invalid_action_setting_raises_rule_error(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(RuleError) as told:
        read_rule(words)
    assert problem in str(told.value)


def test_every_action_is_registered_under_its_name() -> None:
    assert all(action.name == name for name, action in ACTIONS.items())
    assert len(ACTIONS) == len(set(ACTIONS.values()))

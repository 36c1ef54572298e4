"""Each word that selects the frames of a rule."""

from __future__ import annotations

from typing import Any

import pytest

from harness.codec.messages import (
    ApiVersionsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
)
from harness.codec.structs import Message
from harness.proxies.direction import Direction
from harness.proxies.rules import RuleError, frames, requests, responses, when
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse
from tests.proxies.rules.traffic import (
    ORDERS_ID,
    armed,
    fetch,
    fetch_by_id,
    fetched,
    metadata,
    produce,
    produced,
    request,
    response,
)

BROKERS = SeenConnection("1", "2", 4)


@pytest.mark.parametrize(
    ("words", "message", "version", "fires"),
    [
        ({"api": "Produce"}, produce(), 9, True),
        ({"api": ["Fetch", "Produce"]}, produce(), 9, True),
        ({"api": 0}, produce(), 9, True),
        ({"api": "Fetch"}, produce(), 9, False),
        ({"api": "Produce", "version": 9}, produce(), 9, True),
        ({"api": "Produce", "version": "3-8"}, produce(), 9, False),
        ({"version": "9+"}, produce(), 9, True),
        ({"correlation_id": 7}, produce(), 9, True),
        ({"correlation_id": [1, 2]}, produce(), 9, False),
        ({"client_id": "app-1"}, produce(), 9, True),
        ({"client_id": "app-*"}, produce(), 9, True),
        ({"client_id": "app"}, produce(), 9, False),
        ({"client_id": "APP-1"}, produce(), 9, False),
        ({"topic": "orders"}, produce(), 9, True),
        ({"topic": ["payments", "ord*"]}, produce(), 9, True),
        ({"topic": "orders.*"}, produce("orders-x"), 9, False),
        ({"topic": "orders", "partition": 3}, produce("orders", [1, 3]), 9, True),
        ({"topic": "orders", "partition": 2}, produce("orders", [1, 3]), 9, False),
        ({"partition": [2, 3]}, produce("orders", [1, 3]), 9, True),
        ({"topic_id": str(ORDERS_ID)}, fetch_by_id(ORDERS_ID), 13, True),
        ({"topic_id": str(ORDERS_ID)}, fetch(), 12, False),
        ({"transactional_id": "tx-*"}, produce(transactional_id="tx-1"), 9, True),
        ({"transactional_id": "tx-*"}, produce(), 9, False),
        ({"group": "g"}, HeartbeatRequest(group_id="g"), 3, True),
        ({"group": "g"}, HeartbeatRequest(group_id="gg"), 3, False),
        ({"group": "g"}, FindCoordinatorRequest(key="g"), 2, True),
        ({"replica_id": 2}, FetchRequest(replica_id=2), 12, True),
        ({"replica_id": -1}, FetchRequest(replica_id=2), 12, False),
        ({"field": {"acks": -1}}, produce(), 9, True),
        ({"field": {"acks": 0}}, produce(), 9, False),
        ({"field": {"acks": [0, -1]}}, produce(), 9, True),
        ({"field": {"timeout_ms": {"at_least": 1000, "at_most": 1000}}}, produce(), 9, True),
        ({"field": {"timeout_ms": {"at_least": 1001}}}, produce(), 9, False),
        ({"field": {"timeout_ms": {"not": 1000}}}, produce(), 9, False),
        ({"field": {"topic_data[*].name": "orders"}}, produce(), 9, True),
        ({"field": {"topic_data[name=orders].partition_data[0].index": 3}},
         produce("orders", [3, 1]), 9, True),
        ({"field": {"topic_data.partition_data[-1].index": 3}}, produce("o", [3, 1]), 9, False),
        ({"field": {"**.index": 1}}, produce("orders", [3, 1]), 9, True),
        ({"field": {"transactional_id": "tx"}}, produce(), 2, False),
        ({"api": "Fetch", "field": {"topics.topic_id": str(ORDERS_ID)}}, fetch_by_id(ORDERS_ID),
         13, True),
        ({"api": "Metadata", "field": {"allow_auto_topic_creation": True}}, MetadataRequest(), 4,
         True),
        ({"api": "Metadata", "field": {"allow_auto_topic_creation": True}}, MetadataRequest(), 3,
         False),
    ],
)  # fmt: skip
def test_request_matches_rule_conditions(
    words: dict[str, Any], message: Message, version: int, fires: bool
) -> None:
    rules = armed(when(on="request", **words).drop())
    seen = request(message, version, correlation_id=7, client_id="app-1")
    assert rules.fires(seen) is fires
    counts = rules.set.counts(rules.set.rules[0].id)
    assert (counts.seen, counts.matched, counts.fired) == (1, int(fires), int(fires))


@pytest.mark.parametrize(
    ("words", "fires"),
    [
        ({"source": "1"}, True),
        ({"source": 1, "destination": 2}, True),
        ({"source": ["client", "1"]}, True),
        ({"source": "2", "destination": "1"}, False),
        ({"destination": "controller"}, False),
    ],
)
def test_rule_matches_link_by_source_and_destination(words: dict[str, Any], fires: bool) -> None:
    seen = request(fetch(), 12, place=BROKERS)
    assert armed(when(**words).drop()).fires(seen) is fires
    assert armed(when(**words).drop()).fires(response(seen, fetched())) is fires


def test_rule_fires_for_its_directions_only() -> None:
    seen = request(produce(), 9)
    answer = response(seen, produced())
    for sentence, wanted in (
        (requests("Produce"), (True, False)),
        (responses("Produce"), (False, True)),
        (frames("Produce"), (True, True)),
    ):
        rules = armed(sentence.drop())
        assert (rules.fires(seen), rules.fires(answer)) == wanted


@pytest.mark.parametrize(
    ("words", "fires"),
    [
        ({"field": {"responses[*].partition_responses[*].error_code": 6}}, True),
        ({"field": {"**.error_code": "NOT_LEADER_OR_FOLLOWER"}}, True),
        ({"field": {"**.error_code": ["NONE", "NOT_COORDINATOR"]}}, False),
        ({"request_field": {"acks": -1}}, True),
        ({"request_field": {"acks": 1}}, False),
        ({"topic": "orders"}, True),
        ({"topic": "payments"}, True),
        ({"topic": "other"}, False),
        ({"correlation_id": 1}, True),
        ({"client_id": "tests"}, True),
        ({"transactional_id": "tx"}, True),
    ],
)
def test_response_rule_also_matches_fields_of_request(words: dict[str, Any], fires: bool) -> None:
    seen = request(produce("orders", transactional_id="tx"), 9)
    answer = response(seen, produced("payments", 6))
    rules = armed(when(on="response", api="Produce", **words).drop())
    assert rules.fires(answer) is fires


def test_topic_is_matched_by_id_from_metadata_response() -> None:
    rules = armed(requests("Fetch").topic("orders").drop())
    by_id = request(fetch_by_id(ORDERS_ID), 13)
    assert not rules.fires(by_id)
    (rule,) = rules.set.rules
    assert "topic is id 00000000-0000-0000-0000-00000000004d of unknown name" in str(
        rules.set.counts(rule.id).nearest
    )
    asked = request(MetadataRequest(), 12)
    assert rules.set.wants(Direction.DOWNSTREAM, 3, 12)
    assert rules.show(response(asked, metadata())) is None
    assert rules.fires(by_id)


def test_undecodable_frame_matches_only_readable_conditions() -> None:
    readable = request(produce(), 9)
    cut = SeenRequest(readable.payload[:20])
    assert armed(requests("Produce").drop()).fires(cut)
    assert not armed(requests("Produce").topic("orders").drop()).fires(cut)
    assert not armed(requests("Produce").field("acks", -1).drop()).fires(cut)
    for payload in (b"", b"\0", b"\0\0\0", b"\xff" * 9):
        empty = SeenRequest(payload)
        assert not armed(requests("Produce").drop()).fires(empty)
        assert armed(requests().drop()).fires(empty)
        assert not armed(responses().client_id("x").drop()).fires(SeenResponse(b"", empty))


def test_unknown_api_is_matched_by_its_key() -> None:
    unknown = SeenRequest(b"\x03\xe7\x00\x05\x00\x00\x00\x09")
    rules = armed(requests(999).version(5).correlation_id(9).drop())
    assert rules.fires(unknown)
    assert rules.set.counts(rules.set.rules[0].id).touched[0].api == "API 999"


def test_unknown_version_is_matched_by_api_name() -> None:
    seen = request(ApiVersionsRequest(), 3)
    seen = SeenRequest(seen.payload[:2] + b"\x00\x63" + seen.payload[4:])
    assert armed(requests("ApiVersions").drop()).fires(seen)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"api": "Prodce"}, 'api: no API "Prodce" - did you mean "Produce"?'),
        ({"api": []}, "api: must not be an empty list"),
        ({"api": -1}, "api: must be a whole number 0 to 32767, is -1"),
        ({"api": True}, "api: must be a whole number 0 to 32767, is True"),
        ({"on": "requests"}, 'on: no kind of frame "requests" - did you mean "request"?'),
        ({"version": "3..4"}, 'version: must be a version or versions, as 3, "1-4", "2+"; is'),
        ({"api": "Heartbeat", "version": "9+"}, "version: Heartbeat has versions 0-4, not 9+"),
        ({"topic": ""}, "topic: must be text that is not empty, is ''"),
        ({"topic_id": "7"}, "topic_id: must be a UUID, 8-4-4-4-12 hex digits; is '7'"),
        ({"partition": -1}, "partition: must be a whole number 0 to 2147483647, is -1"),
        ({"api": "Produce", "on": "request", "field": {"ack": 1}},
         'field.ack: no field in ProduceRequest: "ack" - did you mean "acks"?'),
        ({"api": "Produce", "on": "request", "field": {"acks[*]": 1}},
         'field.acks[*]: "acks[*]": acks is no array, it has no [...]'),
        ({"api": "Produce", "on": "request", "field": {"acks.x": 1}},
         'field.acks.x: "acks.x": acks has no fields, it is a plain value'),
        ({"api": "Produce", "on": "request", "field": {"topic_data[nam=x].name": 1}},
         'topic_data: "nam" - did you mean "name"?'),
        ({"api": "Produce", "on": "request", "field": {"topic_data": 1}},
         "field.topic_data: topic_data is a structure; name a field in it"),
        ({"api": "Produce", "on": "request", "field": {"a b": 1}},
         'field.a b: "a b" is no path to a field: "a b" is not name, name[*], name[0]'),
        ({"api": "Produce", "on": "request", "field": {"**": 1}}, "** stands before one field"),
        ({"api": "Produce", "on": "request", "field": {"**.nothing": 1}},
         'no field "nothing" anywhere in ProduceRequest'),
        ({"api": "Produce", "field": {"**.error_code": "NOT_LEADER"}},
         'field.**.error_code: no error code "NOT_LEADER"'),
        ({"api": "Produce", "on": "request", "field": {"acks": "all"}},
         "field.acks: acks is int16, 'all' is not"),
        ({"api": "Metadata", "on": "request", "field": {"allow_auto_topic_creation": 1}},
         "allow_auto_topic_creation is bool, 1 is not"),
        ({"api": "Produce", "on": "request", "field": {"acks": {"atleast": 1}}},
         'field.acks: no test of a field "atleast" - did you mean "at_least"?'),
        ({"field": {"no_such_field": 1}},
         'field.no_such_field: no message that the rule can meet has "no_such_field"'),
        ({"api": 999, "field": {"x": 1}}, "field.x: needs an API that is known"),
    ],
)  # fmt: skip
def test_invalid_condition_raises_rule_error(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(RuleError) as told:
        when(**words).drop()
    assert problem in str(told.value)


def test_heartbeat_response_is_matched_by_group_of_request() -> None:
    seen = request(HeartbeatRequest(group_id="g"), 3)
    rules = armed(responses("Heartbeat").group("g").drop())
    assert rules.fires(response(seen, HeartbeatResponse()))

"""Match of responses to their requests."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from harness.codec.frame import LENGTH_BYTES
from harness.codec.header import encode_request
from harness.codec.messages import MetadataRequest, ProduceRequest
from harness.proxies.addresses import AddressBook, AddressRewriter
from harness.proxies.counters import UNKNOWN, Counters
from harness.proxies.limits import ProxyLimits
from harness.proxies.seen import SeenConnection, SeenRequest
from harness.proxies.step import Send, Step
from harness.proxies.unanswered import Unanswered, UnansweredRequest, acks_of
from tests.proxies.ends import read
from tests.proxies.engine.proxied import Asking, answer, arrives, metadata, proxied


def unanswered(**limits: int) -> Unanswered:
    return Unanswered(Counters(), ProxyLimits(**limits))


def sent(correlation_id: int, *, perhaps_silent: bool = False) -> UnansweredRequest:
    return UnansweredRequest(correlation_id, 3, 1, correlation_id, None, perhaps_silent)


@pytest.mark.parametrize("version", range(3, 13))
@pytest.mark.parametrize("acks", [0, 1, -1])
@pytest.mark.parametrize("transactional_id", [None, "", "t" * 200])
def test_produce_acks_are_read_without_decoding(
    version: int, acks: int, transactional_id: str | None
) -> None:
    message = ProduceRequest(acks=acks, transactional_id=transactional_id)
    payload = encode_request(message, version, 1, "me")
    assert acks_of(b"xx" + payload, 2, 2 + len(payload), version) == acks
    assert acks_of(payload[:12], 0, len(payload), version) is None


def test_produce_with_acks_0_expects_no_response() -> None:
    requests = unanswered()
    for acks in (0, 1):
        payload = encode_request(ProduceRequest(acks=acks), 9, acks)
        requests.expect(payload, 0, len(payload), acks)
    found = requests.answered(1)
    assert found is not None
    assert (found.api_key, found.version, found.ordinal) == (0, 9, 1)
    assert requests.answered(2) is None
    assert requests._counters.unasked == 1


def test_possibly_silent_request_is_skipped_when_later_response_arrives() -> None:
    requests = unanswered()
    for one in (sent(1, perhaps_silent=True), sent(2, perhaps_silent=True), sent(3), sent(4)):
        requests.add(one)
    assert requests.answered(2) == sent(2, perhaps_silent=True)
    assert requests.answered(3) == sent(3)
    assert requests.answered(4) == sent(4)
    assert (len(requests), requests._counters.mismatched) == (0, 0)


def test_out_of_order_responses_are_matched_by_id_and_counted() -> None:
    requests = unanswered()
    for one in (sent(1), sent(2), sent(3)):
        requests.add(one)
    assert [requests.answered(one) for one in (3, 1, 2)] == [sent(3), sent(1), sent(2)]
    assert requests._counters.mismatched == 1


def test_response_with_unknown_id_matches_first_open_request() -> None:
    requests = unanswered()
    for one in (sent(1), sent(2)):
        requests.add(one)
    assert requests.answered(99) == sent(1)
    assert requests.answered(2) == sent(2)
    assert requests._counters.mismatched == 1


def test_kept_requests_are_bounded_in_count_and_bytes() -> None:
    payload = encode_request(MetadataRequest(), 1, 1)
    requests = unanswered(unanswered=3, kept_bytes=2 * len(payload))
    for ordinal in range(5):
        seen = SeenRequest(payload, ordinal)
        requests.expect(payload, 0, len(payload), ordinal, seen)
        assert requests.kept_bytes <= 2 * len(payload)
        assert len(requests) <= 3
    assert requests._counters.forgotten == 2
    while requests.answered(1):
        pass
    assert requests.kept_bytes == 0


def test_unanswered_request_returns_known_header_fields() -> None:
    known = sent(7).request()
    assert known.api is not None
    assert known.header is not None
    assert (known.api.name, known.version, known.header.correlation_id) == ("Metadata", 1, 7)
    assert (known.message, known.gets_answer) == (None, True)
    unknown = UnansweredRequest(7, 999, 1, 0).request()
    assert (unknown.api, unknown.version, unknown.header) == (None, -1, None)
    assert UnansweredRequest(None, -1, -1, 0).request().payload == b""


def test_own_response_is_due_after_earlier_responses() -> None:
    requests = unanswered()
    requests.add(sent(1))
    own = requests.promise()
    requests.add(sent(2))
    own.data = b"mine"
    assert requests.own_due() == []
    assert requests.answered(1) == sent(1)
    assert requests.own_due() == [b"mine"]
    assert requests.own_count == 0
    assert requests.answered(2) == sent(2)


def test_unsolicited_response_is_not_counted_as_unknown_api() -> None:
    rewriter = AddressRewriter(AddressBook())
    with proxied(rewriter=rewriter) as ends:
        ends.broker.sendall(answer(1))
        assert read(ends.client, len(answer(1))) == answer(1)
        assert ends.proxy.counters.unasked == 1
        assert ends.proxy.counters.downstream.by_api[UNKNOWN].frames == 1
    assert rewriter.counters == {}


@dataclass
class Ended(Asking):
    """Pass on cut requests, and remember those that the broker closed instead of answering."""

    unanswered: list[SeenRequest] = field(default_factory=list)

    def cut(self, place: SeenConnection, rest: bytes) -> Sequence[Step]:
        return [Send(rest)]

    def ended(self, unanswered: SeenRequest) -> Sequence[Step] | None:
        self.unanswered.append(unanswered)
        return None


@pytest.mark.parametrize("cut_at_byte", [LENGTH_BYTES, 7, 20])
def test_partial_request_expects_no_response(cut_at_byte: int) -> None:
    ended = Ended()
    with proxied(interceptor=ended) as ends:
        ends.client.sendall(metadata(1)[:cut_at_byte])
        ends.client.shutdown(socket.SHUT_WR)
        arrives(ends, metadata(1)[:cut_at_byte])
        ends.broker.close()
        assert ends.client.recv(1) == b""
    assert not ended.unanswered

"""Rules in a running proxy, between two plain sockets."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.codec.frame import frame
from harness.codec.header import decode_response
from harness.codec.messages import MetadataRequest, ProduceResponse
from harness.proxies.event import Event
from harness.proxies.proxy import Proxy
from harness.proxies.requests import WITHHELD
from harness.proxies.rules import Rule, RuleSet, requests, responses
from harness.proxies.rules.actions.reorder import LARGEST
from harness.proxies.rules.toml_form import read_rules_text
from harness.proxies.running import RunningProxies
from labs.awaiting import await_that
from tests.proxies.ends import LIMIT_S, read, read_to_end
from tests.proxies.rules.traffic import Clock, Stream, metadata, produce, produced, response


def now_ms() -> float:
    return time.monotonic() * 1000


@dataclass
class Wire:
    """A client's socket, the broker's, and the rules between them."""

    client: socket.socket
    broker: socket.socket
    rules: RuleSet
    running: RunningProxies

    def ask(self, *payloads: bytes) -> None:
        self.client.sendall(b"".join(map(frame, payloads)))

    def answer(self, *payloads: bytes) -> None:
        self.broker.sendall(b"".join(map(frame, payloads)))

    def until(self, condition: Callable[[], bool]) -> None:
        """Evaluate the condition on the proxies' loop until it is true."""
        await_that(lambda: self.running.call(condition), "what the rules did")


@contextmanager
def wired(*rules: Rule, seed: int = 0, clock: Callable[[], float] = now_ms) -> Iterator[Wire]:
    rule_set = RuleSet(*rules, seed=seed, now_ms=clock)
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(LIMIT_S)
        running = stack.enter_context(RunningProxies())
        address = running.add(Proxy("p", listener.getsockname(), interceptor=rule_set))
        client = stack.enter_context(socket.create_connection(address, LIMIT_S))
        broker = stack.enter_context(listener.accept()[0])
        broker.settimeout(LIMIT_S)
        yield Wire(client, broker, rule_set, running)


def payloads(data: bytes) -> list[bytes]:
    """The payloads of whole frames, without a rest."""
    found = []
    while data:
        (length,) = struct.unpack_from(">i", data)
        found.append(data[4 : 4 + length])
        assert len(found[-1]) == length
        data = data[4 + length :]
    return found


def pairs(count: int) -> tuple[list[bytes], list[bytes]]:
    """So many Produce requests with their answers."""
    stream = Stream()
    asked = [stream.request(produce(f"topic-{n}"), 9) for n in range(count)]
    answers = [response(one, produced(f"topic-{n}")) for n, one in enumerate(asked)]
    return [one.payload for one in asked], [one.payload for one in answers]


def exchanged(wire: Wire, asked: list[bytes], answers: list[bytes]) -> list[bytes]:
    """The client's frames after all requests, all answers, and the end of the broker."""
    wire.ask(*asked)
    assert payloads(read(wire.broker, sum(len(one) + 4 for one in asked))) == asked
    wire.answer(*answers)
    wire.broker.shutdown(socket.SHUT_WR)
    return payloads(read_to_end(wire.client))


def test_second_matching_response_is_dropped() -> None:
    asked, answers = pairs(3)
    with wired(responses("Produce").topic("topic-*").nth(2).drop()) as wire:
        assert exchanged(wire, asked, answers) == [answers[0], answers[2]]
        wire.rules.expect_fired()


def test_injected_error_response_keeps_response_order() -> None:
    """The broker still owes the answer to the request before it."""
    stream = Stream()
    first, second = stream.request(MetadataRequest(topics=[]), 9), stream.request(produce(), 9)
    assert second.api is not None
    with wired(requests("Produce").answer_error("NOT_LEADER_OR_FOLLOWER")) as wire:
        wire.ask(first.payload, second.payload)
        assert payloads(read(wire.broker, len(first.payload) + 4)) == [first.payload]
        answer = response(first, metadata()).payload
        wire.answer(answer)
        assert payloads(read(wire.client, len(answer) + 4)) == [answer]
        (length,) = struct.unpack(">i", read(wire.client, 4))
        correlation_id, message = decode_response(second.api, 9, read(wire.client, length))
    assert correlation_id == 101
    assert isinstance(message, ProduceResponse)
    assert message.responses[0].partition_responses[0].error_code == 6


def test_reordered_responses_are_shuffled_without_loss() -> None:
    asked, answers = pairs(10)
    with wired(responses("Produce").reorder(4, at_most_ms=60_000), seed=5) as wire:
        got = exchanged(wire, asked, answers)
    assert got != answers
    for start in (0, 4, 8):  # the last two at the end of the stream
        assert sorted(got[start : start + 4]) == sorted(answers[start : start + 4])


def test_partial_reorder_window_is_sent_after_its_time() -> None:
    asked, answers = pairs(2)
    with wired(responses("Produce").reorder(4, at_most_ms=1)) as wire:
        wire.ask(*asked)
        read(wire.broker, sum(len(one) + 4 for one in asked))
        wire.answer(*answers)
        got = payloads(read(wire.client, sum(len(one) + 4 for one in answers)))
    assert sorted(got) == sorted(answers)


def test_response_pairs_swap_correlation_ids() -> None:
    asked, answers = pairs(4)
    with wired(responses("Produce").swap_correlation_ids(at_most_ms=60_000)) as wire:
        got = exchanged(wire, asked, answers)
    assert [one[4:] for one in got] == [one[4:] for one in answers]
    ids = [struct.unpack_from(">i", one)[0] for one in got]
    assert ids == [101, 100, 103, 102]


def test_held_response_is_sent_when_released() -> None:
    asked, answers = pairs(1)
    with wired(responses().named("held").hold(at_most_ms=60_000)) as wire:
        wire.ask(*asked)
        read(wire.broker, len(asked[0]) + 4)
        wire.answer(*answers)
        wire.until(lambda: wire.rules.counts("held").fired == 1)
        wire.client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            wire.client.recv(1)
        wire.client.settimeout(LIMIT_S)
        assert wire.running.call(wire.rules.release, "held") == 1
        assert payloads(read(wire.client, len(answers[0]) + 4)) == answers


def test_expired_held_response_is_counted_and_reported() -> None:
    asked, answers = pairs(1)
    with wired(responses().named("held").hold(at_most_ms=1)) as wire:
        wire.running.call(setattr, wire.rules, "tell", (events := list[Event]()).append)
        wire.ask(*asked)
        read(wire.broker, len(asked[0]) + 4)
        wire.answer(*answers)
        assert payloads(read(wire.client, len(answers[0]) + 4)) == answers
        counts = wire.rules.counts("held")
        assert (counts.fired, counts.expired) == (1, 1)
        assert "1 held until their time was over" in counts.in_words()
    assert [(event.what, event.rule, event.frame) for event in events] == [
        ("fired", "held", 0),
        ("expired", "held", 0),
    ]


def test_released_held_response_is_not_counted_as_expired() -> None:
    asked, answers = pairs(1)
    with wired(responses().named("held").hold(at_most_ms=60_000)) as wire:
        wire.ask(*asked)
        read(wire.broker, len(asked[0]) + 4)
        wire.answer(*answers)
        wire.until(lambda: wire.rules.counts("held").fired == 1)
        wire.running.call(wire.rules.release, "held")
        assert payloads(read(wire.client, len(answers[0]) + 4)) == answers
        assert wire.rules.counts("held").expired == 0


@pytest.mark.parametrize("window", [17, LARGEST])
def test_response_rule_matches_requests_of_large_reorder_window(window: int) -> None:
    """A rule about answers sees their requests, however many others were collected."""
    asked, answers = pairs(window)
    collect = requests().named("w").first(window).reorder(window, at_most_ms=60_000)
    known = responses().request_field("acks", -1).named("known").watch()
    with wired(collect, known, seed=3) as wire:
        sender = threading.Thread(target=wire.ask, args=asked)
        sender.start()
        came = payloads(read(wire.broker, sum(len(one) + 4 for one in asked)))
        sender.join()
        assert came != asked
        by_id = dict(zip(asked, answers, strict=True))
        sender = threading.Thread(target=wire.answer, args=[by_id[one] for one in came])
        sender.start()
        read(wire.client, sum(len(one) + 4 for one in answers))
        sender.join()
        assert wire.rules.counts("known").fired == window


def test_kept_request_limit_covers_largest_window() -> None:
    assert WITHHELD >= LARGEST


def test_truncated_response_is_followed_by_reset() -> None:
    asked, answers = pairs(1)
    with wired(responses("Produce").truncate(9, then="reset")) as wire:
        wire.ask(*asked)
        read(wire.broker, len(asked[0]) + 4)
        wire.answer(*answers)
        with pytest.raises(ConnectionResetError):
            read_to_end(wire.client)


def documented_end() -> str:
    """The line of docs/proxy.md for a link that works and then dies."""
    text = (Path(__file__).parents[3] / "docs/proxy.md").read_text("utf-8")
    return text.split("works and then\ndies")[1].split("```toml\n")[1].split("```")[0]


def passes(wire: Wire, asked: bytes) -> bool:
    """True if the broker gets it; otherwise both sides must be reset."""
    wire.ask(asked)
    try:
        return payloads(read(wire.broker, len(asked) + 4)) == [asked]
    except ConnectionResetError:
        with pytest.raises(ConnectionResetError):
            read_to_end(wire.client)
        return False


def test_documented_rule_resets_link_after_given_time() -> None:
    asked, _ = pairs(3)
    clock = Clock()
    with wired(*read_rules_text(documented_end()).rules, clock=clock) as wire:
        assert passes(wire, asked[0])
        clock.now = 4999
        assert passes(wire, asked[1])
        clock.now = 5000
        assert not passes(wire, asked[2])


def test_rule_resets_connection_after_given_frames() -> None:
    asked, _ = pairs(3)
    words = documented_end().replace("after_ms = 5000", 'after_frames = 2, per = "connection"')
    with wired(*read_rules_text(words).rules) as wire:
        assert [passes(wire, one) for one in asked] == [True, True, False]


def test_rule_armed_on_open_connection_takes_effect() -> None:
    asked, answers = pairs(2)
    with wired() as wire:
        wire.ask(asked[0])
        read(wire.broker, len(asked[0]) + 4)
        wire.answer(answers[0])
        assert payloads(read(wire.client, len(answers[0]) + 4)) == answers[:1]
        wire.running.call(wire.rules.arm, requests("Produce").duplicate())
        wire.ask(asked[1])
        assert payloads(read(wire.broker, 2 * (len(asked[1]) + 4))) == [asked[1]] * 2


def test_closed_connection_leaves_no_rule_state() -> None:
    asked, answers = pairs(3)
    rule = responses("Produce").named("r").per("connection").reorder(9, at_most_ms=60_000)
    with wired(rule) as wire:
        assert sorted(exchanged(wire, asked, answers)) == sorted(answers)
        wire.client.close()
        armed = wire.rules._armed["r"]
        wire.until(lambda: not armed._memory)

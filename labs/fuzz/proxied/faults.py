"""The faults that a script can choose: rules of every action, toxics of every type, limits."""

from __future__ import annotations

from functools import cache

from harness.proxies.limits import ProxyLimits
from harness.proxies.rules import Rule, frames, requests, responses
from harness.proxies.rules.rule import read_rule
from harness.proxies.toxics.bandwidth import Bandwidth
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.corrupt import Corrupt
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.limit_data import LimitData
from harness.proxies.toxics.noop import Noop
from harness.proxies.toxics.packet_loss import PacketLoss
from harness.proxies.toxics.reset_peer import ResetPeer
from harness.proxies.toxics.slicer import Slicer
from harness.proxies.toxics.slow_accept import SlowAccept
from harness.proxies.toxics.slow_close import SlowClose
from harness.proxies.toxics.timeout import Timeout
from harness.proxies.toxics.toxic import Toxic

MOST_COPIES = 3  # of a frame, by a rule
WINDOW = 4  # frames that a rule collects
COPYING, COLLECTING, ANSWERING, SLOWING = 1 << 4 | 1 << 10, 1 << 5 | 1 << 7, 3 << 12, 1 << 15
SLOW_BYTES = 100  # a frame comes in pieces of
LONGEST_ANSWER = 40

_SMALL: dict[str, float] = {
    "request_bytes": 1200,
    "collected_bytes": 300,
    "held_bytes": 300,
    "kept_bytes": 600,
    "unanswered": 6,
    "connect_ms": 900.0,
    "linger_ms": 300.0,
    "connections": 2,
    "collected_in_all": 300,
}


@cache
def limits(number: int) -> ProxyLimits:
    """Small ones, so that an input gets to them."""
    others: list[dict[str, float]] = [
        {},
        {"collected_bytes": 24, "unanswered": 2},
        {"held_bytes": 1, "kept_bytes": 1, "collected_bytes": 4000, "collected_in_all": 4000},
        {"held_bytes": 2000, "unanswered": 1000, "request_bytes": 1 << 20},
    ]
    return ProxyLimits(**_SMALL | others[number])  # type: ignore[arg-type]


@cache
def chosen_rules() -> tuple[Rule, ...]:
    """Sixteen, by the bits of a script. Each takes only some frames, so that others pass."""
    return (
        frames().every(3).named("drop").drop(),
        frames().with_probability(0.5).named("delay").delay(50, jitter_ms=40),
        responses().every(2).named("hold").hold(until="watch", at_most_ms=400),
        frames("Metadata", "Produce", "Fetch").named("watch").watch(),
        frames().every(2).named("duplicate").duplicate(MOST_COPIES),
        frames().named("reorder").reorder(WINDOW, at_most_ms=200),
        responses().with_probability(0.3).named("other id").set_correlation_id(by=1),
        responses().named("swap").swap_correlation_ids(at_most_ms=100),
        frames().nth(3, 7).named("truncate").truncate(9, then="go_on"),
        frames().skip(2).every(4).and_on().named("lie").lie_about_length(by=2),
        frames().and_on().named("append").append(b"\0\0\0\1\7", inside=False),
        responses()
        .and_on()
        .named("rewrite")
        .rewrite({"**.error_code": 6, "**.throttle_time_ms": {"add": 7}}),
        requests("Metadata", "Fetch", "ApiVersions").named("error").answer_error(7),
        read_rule(
            {
                "id": "answer",
                "on": "request",
                "every": 2,
                "answer": {"hex": "00" * (LONGEST_ANSWER - 4)},
            }
        ),
        frames().topic("*").per("connection").nth(4).named("end").reset("after"),
        frames().with_probability(0.4).named("slow").throttle(50 * SLOW_BYTES),
    )


@cache
def rules_without_effect() -> tuple[Rule, ...]:
    """They look at all frames, and take none."""
    return (
        frames().topic("nowhere").client_id("nobody").named("never").drop(),
        frames().after_ms(8e7).field("**.error_code", 999).named("later").reset(),
        responses().after_rule("never").named("behind").request_field("**.name", "x").drop(),
    )


HARMLESS: tuple[Toxic, ...] = (
    Latency(latency=30, jitter=20),
    Bandwidth(rate=2),
    Slicer(average_size=7, size_variation=3, delay=900),
    PacketLoss(probability=0.2, retransmission=10),
    SlowAccept(delay=200),
    SlowClose(delay=150),
    BlackHole(),
    HalfOpen(),
    Noop(),
    Bandwidth(rate=0),
)
"""All comes through them in the end."""

HARMFUL: tuple[Toxic, ...] = (
    Timeout(timeout=300),
    ResetPeer(timeout=250),
    LimitData(bytes=70),
    Corrupt(every=11),
    Timeout(timeout=0),
)

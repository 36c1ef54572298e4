"""The law of toxics: in order, nothing lost, not even while toxics come and go."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.proxies.direction import Direction
from harness.proxies.toxics.bandwidth import Bandwidth
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.chain import Chain, ToxicChange
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.limit_data import LimitData
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.packet_loss import PacketLoss
from harness.proxies.toxics.reset_peer import ResetPeer
from harness.proxies.toxics.slicer import Slicer
from harness.proxies.toxics.slow_accept import SlowAccept
from harness.proxies.toxics.slow_close import SlowClose
from harness.proxies.toxics.timeout import Timeout
from harness.proxies.toxics.toxic import NEVER_MS, Due, Piece, StreamMarker, Toxic, ToxicState
from tests.proxies.toxics.streams import drawn, hashed, through, timeline


def test_chain_without_toxics_returns_same_object() -> None:
    chain = through()
    data = b"as it came"
    assert (chain.is_idle, chain.next_due_ms) == (True, NEVER_MS)
    chain.push(data, 5.0)
    assert (chain.is_idle, chain.next_due_ms, chain.held_bytes) == (False, 5.0, len(data))
    (given,) = chain.advance(5.0)
    assert given is data
    assert (chain.is_idle, chain.held_bytes) == (True, 0)


def test_empty_bytes_make_no_piece() -> None:
    chain = through()
    chain.push(b"", 0.0)
    assert chain.advance(0.0) == []


def test_toxic_delays_add_up_exactly_after_late_advance() -> None:
    chain = through(NamedToxic.of(Latency(10), name="a"), NamedToxic.of(Latency(5), name="b"))
    chain.push(b"x", 1.0)
    assert chain.next_due_ms == 11.0
    assert chain.advance(15.999) == []
    assert chain.next_due_ms == 16.0
    assert chain.advance(16.0) == [b"x"]
    chain.push(b"y", 20.0)
    assert chain.advance(35.0) == [b"y"]


def test_added_toxic_affects_only_later_bytes() -> None:
    chain = through()
    chain.push(b"before", 0.0)
    chain.add(NamedToxic.of(Latency(10)), 0.0)
    chain.push(b"behind", 0.0)
    assert timeline(chain, 99.0) == [(0.0, b"before"), (10.0, b"behind")]


def test_removed_toxic_releases_all_pieces_in_order() -> None:
    chain = through(BlackHole())
    for number in range(3):
        chain.push(bytes([number]), float(number))
    chain.push(StreamMarker.END, 3.0)
    assert chain.next_due_ms == NEVER_MS
    assert chain.advance(1e9) == []
    assert chain.held_bytes == 3
    chain.remove("black_hole_downstream", 1e9)
    assert chain.advance(1e9) == [b"\0", b"\1", b"\2", StreamMarker.END]
    assert chain.held_bytes == 0


def test_pieces_of_removed_toxic_pass_later_toxics() -> None:
    chain = through(BlackHole(), Latency(10))
    chain.push(b"x", 0.0)
    chain.remove("black_hole_downstream", 100.0)
    assert timeline(chain, 999.0) == [(110.0, b"x")]


def test_removed_slicer_releases_rest_of_sliced_piece() -> None:
    chain = through(Slicer(2, 0, delay=1000))
    chain.push(b"abcdefg", 0.0)
    assert chain.advance(1.5) == [b"ab", b"cd"]
    assert chain.held_bytes == 3
    chain.remove("slicer_downstream", 1.5)
    assert b"".join(piece for piece in chain.advance(1.5) if isinstance(piece, bytes)) == b"efg"


def test_removal_of_unknown_toxic_is_ignored() -> None:
    chain = through()
    chain.apply(ToxicChange.REMOVED, NamedToxic.of(Latency(1)), 0.0)
    assert chain.is_idle


def test_changed_latency_applies_to_held_pieces_from_arrival() -> None:
    chain = through(named := NamedToxic.of(Latency(1000)))
    chain.push(b"x", 0.0)
    chain.update(named.updated({"attributes": {"latency": 100}}), 40.0)
    assert chain.next_due_ms == 100.0
    chain.update(named.updated({"attributes": {"latency": 10}}), 50.0)
    assert timeline(chain, 999.0) == [(50.0, b"x")]


def test_update_with_same_settings_keeps_deadline() -> None:
    chain = through(named := NamedToxic.of(Timeout(100)))
    chain.update(named.updated({"toxicity": 0.9}), 60.0)
    assert chain.next_due_ms == 100.0


def test_changed_timeout_starts_again() -> None:
    chain = through(named := NamedToxic.of(Timeout(0)))
    chain.push(b"x", 0.0)
    chain.update(named.updated({"attributes": {"timeout": 5}}), 60.0)
    assert timeline(chain, 999.0) == [(65.0, StreamMarker.CLOSE)]


def test_changed_data_limit_keeps_counted_bytes() -> None:
    chain = through(named := NamedToxic.of(LimitData(10)))
    chain.push(b"12345678", 0.0)
    chain.update(named.updated({"attributes": {"bytes": 9}}), 0.0)
    chain.push(b"90", 0.0)
    assert chain.advance(0.0) == [b"12345678", b"9", StreamMarker.CLOSE]


def test_chain_returns_and_holds_no_bytes_after_reset() -> None:
    chain = through(ResetPeer(10))
    chain.push(b"x", 0.0)
    assert chain.advance(9.9) == []
    assert chain.held_bytes == 1
    assert chain.advance(10.0) == [StreamMarker.RESET]
    chain.push(b"y", 11.0)
    chain.push(StreamMarker.END, 11.0)
    assert chain.held_bytes == 0
    assert (chain.advance(1e9), chain.next_due_ms) == ([], NEVER_MS)


def test_bytes_before_close_are_still_delivered() -> None:
    chain = through(LimitData(3), Latency(10))
    chain.push(b"abcd", 0.0)
    chain.push(b"e", 0.0)
    assert timeline(chain, 999.0) == [(10.0, b"abc"), (10.0, StreamMarker.CLOSE)]


def test_bytes_pushed_after_close_are_ignored() -> None:
    chain = through(SlowClose(10))
    chain.push(b"a", 0.0)
    chain.push(StreamMarker.CLOSE, 0.0)
    chain.push(b"b", 0.0)
    assert timeline(chain, 999.0) == [(0.0, b"a"), (10.0, StreamMarker.CLOSE)]


def test_reset_toxic_removed_before_timeout_resets_no_stream() -> None:
    chain = through(ResetPeer(10))
    chain.push(b"x", 0.0)
    chain.remove("reset_peer_downstream", 9.0)
    assert timeline(chain, 999.0) == [(9.0, b"x")]
    assert chain.is_idle


class TestToxicity:
    def chain(self, toxicity: float, chance: float) -> Chain:
        named = NamedToxic.of(Latency(10), toxicity=toxicity)
        return through(named, chance=lambda name, n: chance)

    def test_toxicity_0_affects_no_stream_at_draw_0(self) -> None:
        assert self.chain(0, 0.0).is_idle

    def test_toxicity_1_affects_stream_at_highest_draw(self) -> None:
        assert not self.chain(1, 1 - 2**-53).is_idle

    def test_toxic_affects_stream_for_draw_below_toxicity_only(self) -> None:
        assert not self.chain(0.5, 0.4999).is_idle
        assert self.chain(0.5, 0.5).is_idle

    def test_reset_peer_with_toxicity_0_resets_no_stream(self) -> None:
        chain = through(NamedToxic.of(ResetPeer(0), toxicity=0))
        chain.push(b"x", 0.0)
        assert timeline(chain, 1e9) == [(0.0, b"x")]

    def test_other_toxics_do_not_change_toxicity_choice(self) -> None:
        for seed in range(50):
            alone = through(NamedToxic.of(BlackHole(), toxicity=0.5), chance=hashed(seed))
            spared = alone.is_idle
            for name in "ab":
                alone.add(NamedToxic.of(SlowClose(1), toxicity=0.5, name=name), 1.0)
            alone.remove("a", 2.0)
            alone.update(NamedToxic.of(SlowClose(2), toxicity=0.7, name="b"), 2.0)
            alone.push(b"x", 3.0)
            assert (alone.advance(3.0) == [b"x"]) is spared

    def test_raised_toxicity_keeps_affected_streams_affected(self) -> None:
        for seed in range(50):
            named = NamedToxic.of(BlackHole(), toxicity=0.3)
            chain = through(named, chance=hashed(seed))
            struck = not chain.is_idle
            chain.push(b"x", 0.0)
            assert (chain.advance(0.0) == []) is struck
            chain.update(named.updated({"toxicity": 0.6}), 1.0)
            chain.push(b"y", 1.0)
            assert chain.advance(1.0) == [] or not struck
            chain.update(named.updated({"toxicity": 0}), 2.0)
            assert chain.advance(2.0) in ([], [b"x", b"y"], [b"y"])
            assert chain.is_idle

    def test_unaffected_toxic_draws_only_its_toxicity(self) -> None:
        asked: list[tuple[str, int]] = []

        def chance(name: str, n: int) -> float:
            asked.append((name, n))
            return 0.5

        chain = through(
            NamedToxic.of(Latency(10, 5), toxicity=0.5, name="spared"),
            NamedToxic.of(Latency(10, 5), name="struck"),
            chance=chance,
        )
        chain.push(b"x", 0.0)
        chain.advance(0.0)
        assert asked == [("spared", 0), ("struck", 0), ("struck", 1)]


class TestCounts:
    def test_toxic_counts_changed_pieces_not_passed_ones(self) -> None:
        named = NamedToxic.of(LimitData(5))
        chain = through(named)
        chain.push(b"abc", 0.0)
        chain.advance(0.0)
        assert named.counts.to_json() == {"streams": 1, "fired": 0}
        chain.push(b"def", 0.0)
        chain.advance(0.0)
        assert named.counts.to_json() == {"streams": 1, "fired": 1}

    def test_unaffected_stream_is_not_counted(self) -> None:
        named = NamedToxic.of(Latency(5), toxicity=0)
        through(named).push(b"x", 0.0)
        assert named.counts.to_json() == {"streams": 0, "fired": 0}

    def test_listener_is_called_once_per_toxic_and_stream(self) -> None:
        told: list[str] = []
        chain = through(Latency(5), SlowClose(1), struck=lambda named: told.append(named.name))
        for number in range(3):
            chain.push(b"x", float(number))
            chain.advance(float(number))
        assert told == ["latency_downstream"]
        chain.push(StreamMarker.END, 10.0)
        chain.advance(100.0)
        assert told == ["latency_downstream", "slow_close_downstream"]

    def test_counts_are_kept_after_update(self) -> None:
        named = NamedToxic.of(Latency(5))
        chain = through(named)
        chain.push(b"x", 0.0)
        chain.advance(0.0)
        after = named.updated({"attributes": {"latency": 6}})
        chain.update(after, 1.0)
        chain.push(b"y", 1.0)
        chain.advance(1.0)
        assert after.counts.fired >= 2


def test_long_piece_is_split_only_as_far_as_due() -> None:
    taken = 0

    class CountingState(ToxicState[Toxic]):
        def data(self, data: bytes, arrived_ms: float) -> Iterable[Due]:
            nonlocal taken
            for index in range(len(data)):
                taken += 1
                yield Due(data[index : index + 1], arrived_ms + index)

    class Counting(Toxic):
        type = "counting"

        def begin(self, draw: object) -> CountingState:
            return CountingState(self, lambda: 0.0)

    chain = through(Counting())
    chain.push(bytes(100_000), 0.0)
    chain.advance(10.0)
    assert taken == 12
    assert chain.held_bytes == 100_000 - 11


KINDS: list[Toxic] = [
    Latency(7, 5),
    Latency(3, 9, "normal"),
    Latency(1, 4, "pareto"),
    Bandwidth(1),
    Bandwidth(0),
    SlowClose(20),
    Timeout(0),
    BlackHole(),
    Slicer(3, 2, 700),
    SlowAccept(30),
    HalfOpen(),
    PacketLoss(0.4, 11),
]
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.binary(max_size=4000)),
        st.tuples(st.just("step"), st.floats(0, 50)),
        st.tuples(st.just("toxic"), st.tuples(st.integers(0, 3), st.sampled_from(KINDS))),
        st.tuples(st.just("toxicity"), st.tuples(st.integers(0, 3), st.floats(0, 1))),
        st.tuples(st.just("remove"), st.integers(0, 3)),
    ),
    max_size=40,
)


class Driver:
    """Drives a chain, and records the bytes that went in and came out."""

    def __init__(self, seed: int) -> None:
        self.chain = Chain(hashed(seed), 0.0)
        self.now_ms, self.sent, self.received = 0.0, b"", b""
        self.named: dict[str, NamedToxic] = {}

    def push(self, data: bytes) -> None:
        self.chain.push(data, self.now_ms)
        self.sent += data

    def step(self, for_ms: float) -> None:
        self.now_ms += for_ms
        self.take()

    def take(self) -> list[Piece]:
        pieces = self.chain.advance(self.now_ms)
        self.received += b"".join(piece for piece in pieces if isinstance(piece, bytes))
        assert self.chain.next_due_ms > self.now_ms
        return pieces

    def toxic(self, settings: tuple[int, Toxic]) -> None:
        name = str(settings[0])
        named = NamedToxic(name, settings[1], Direction.UPSTREAM)
        known = self.named.get(name)
        if known is None:
            self.chain.apply(ToxicChange.ADDED, named, self.now_ms)
        elif type(known.toxic) is type(named.toxic):
            self.chain.apply(ToxicChange.UPDATED, named, self.now_ms)
        else:
            return
        self.named[name] = named

    def toxicity(self, settings: tuple[int, float]) -> None:
        if known := self.named.get(str(settings[0])):
            changed = known.updated({"toxicity": settings[1]})
            self.named[known.name] = changed
            self.chain.apply(ToxicChange.UPDATED, changed, self.now_ms)

    def remove(self, number: int) -> None:
        if named := self.named.pop(str(number), None):
            self.chain.apply(ToxicChange.REMOVED, named, self.now_ms)

    def check(self) -> None:
        assert self.sent.startswith(self.received)
        assert self.chain.held_bytes == len(self.sent) - len(self.received)


@settings(max_examples=300)
@given(st.integers(0, 1000), OPERATIONS)
def test_chain_keeps_all_bytes_in_order_under_any_toxic_changes(
    seed: int, operations: list[tuple[str, object]]
) -> None:
    driver = Driver(seed)
    for name, argument in operations:
        getattr(driver, name)(argument)
        driver.check()
    driver.chain.push(StreamMarker.END, driver.now_ms)
    for number in range(4):
        driver.remove(number)
        driver.check()
    pieces = driver.take()
    assert driver.received == driver.sent
    assert pieces[-1] is StreamMarker.END
    assert pieces.count(StreamMarker.END) == 1
    assert driver.chain.is_idle


@settings(max_examples=100)
@given(st.integers(0, 1000), OPERATIONS)
def test_same_seed_and_traffic_give_equal_stream(
    seed: int, operations: list[tuple[str, object]]
) -> None:
    streams = []
    for _ in range(2):
        driver, seen = Driver(seed), []
        for name, argument in operations:
            getattr(driver, name)(argument)
            seen.append((driver.now_ms, tuple(driver.take())))
        streams.append(seen)
    assert streams[0] == streams[1]


def test_drawn_chance_returns_0_first_then_given_values() -> None:
    assert drawn(0.5)("any", 0) == 0.0
    assert [drawn(0.1, 0.2)("any", n) for n in (1, 2, 3)] == [0.1, 0.2, 0.2]

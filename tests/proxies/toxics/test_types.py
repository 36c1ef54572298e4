"""Each toxic: its effects and times, at its boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proxies.toxics.bandwidth import Bandwidth
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.chain import Chain
from harness.proxies.toxics.corrupt import Corrupt
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.limit_data import LimitData
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.packet_loss import MOST_LOSSES, PacketLoss
from harness.proxies.toxics.reset_peer import ResetPeer
from harness.proxies.toxics.slicer import Slicer
from harness.proxies.toxics.slow_accept import SlowAccept
from harness.proxies.toxics.slow_close import SlowClose
from harness.proxies.toxics.timeout import Timeout
from harness.proxies.toxics.toxic import NEVER_MS, Piece, StreamMarker, Toxic
from tests.proxies.toxics.streams import drawn, hashed, through, timeline

FOREVER = 1e12


def pushed(chain: Chain, *pieces: Piece, at_ms: float = 0.0) -> list[tuple[float, Piece]]:
    """Push all of these at once; return the pieces with their times."""
    for piece in pieces:
        chain.push(piece, at_ms)
    return timeline(chain, FOREVER)


def joined(seen: list[tuple[float, Piece]]) -> bytes:
    return b"".join(piece for _, piece in seen if isinstance(piece, bytes))


class TestLatency:
    def test_latency_delays_end_marker_like_bytes(self) -> None:
        assert pushed(through(Latency(10)), b"x", StreamMarker.END, at_ms=3.0) == [
            (13.0, b"x"),
            (13.0, StreamMarker.END),
        ]

    @pytest.mark.parametrize(
        ("chance", "distribution", "due_ms"),
        [
            (0.0, "uniform", 60.0),
            (0.5, "uniform", 100.0),
            (0.75, "uniform", 120.0),
            (0.5, "normal", 100.0),
            (0.0, "pareto", 100.0),
            (0.875, "pareto", 140.0),
        ],
    )
    def test_jitter_follows_its_distribution(
        self, chance: float, distribution: str, due_ms: float
    ) -> None:
        chain = through(Latency(100, 40, distribution), chance=drawn(chance))
        assert [due for due, _ in pushed(chain, b"x")] == [pytest.approx(due_ms)]

    def test_normal_jitter_has_expected_standard_deviation(self) -> None:
        chain = through(Latency(100, 40, "normal"), chance=drawn(0.8413447460685429))
        assert [due for due, _ in pushed(chain, b"x")] == [pytest.approx(140.0)]

    @pytest.mark.parametrize("distribution", ["uniform", "normal", "pareto"])
    @pytest.mark.parametrize("chance", [0.0, 1 - 2**-53])
    def test_extreme_jitter_draw_is_due_after_arrival_and_finite(
        self, distribution: str, chance: float
    ) -> None:
        chain = through(Latency(1, 100, distribution), chance=drawn(chance))
        ((due_ms, _),) = pushed(chain, b"x", at_ms=5.0)
        assert 5.0 <= due_ms < FOREVER

    def test_piece_with_less_jitter_does_not_overtake_earlier_one(self) -> None:
        chain = through(Latency(100, 100), chance=drawn(1 - 2**-53, 0.0))
        assert [piece for _, piece in pushed(chain, b"1", b"2")] == [b"1", b"2"]


class TestBandwidth:
    def test_bandwidth_delivers_bytes_at_times_of_its_rate(self) -> None:
        seen = pushed(through(Bandwidth(10)), bytes(1000), StreamMarker.END)
        assert [due_ms for due_ms, _ in seen] == [20.0, 40.0, 60.0, 80.0, 100.0, 100.0]
        assert joined(seen) == bytes(1000)

    def test_idle_time_gives_no_bandwidth_credit(self) -> None:
        chain = through(Bandwidth(1))
        chain.push(b"12345", 0.0)
        assert timeline(chain, 1000.0) == [(5.0, b"12345")]
        chain.push(b"67890", 1000.0)
        assert timeline(chain, 2000.0) == [(1005.0, b"67890")]

    def test_bandwidth_rate_0_holds_bytes_until_rate_changes(self) -> None:
        chain = through(named := NamedToxic.of(Bandwidth(0)))
        assert pushed(chain, b"12345") == []
        chain.update(named.updated({"attributes": {"rate": 1}}), 100.0)
        assert timeline(chain, FOREVER) == [(105.0, b"12345")]

    def test_very_low_bandwidth_rate_delivers_single_bytes(self) -> None:
        seen = pushed(through(Bandwidth(0.001)), b"ab")
        assert seen == [(1000.0, b"a"), (2000.0, b"b")]


class TestSlowClose:
    @pytest.mark.parametrize("mark", list(StreamMarker))
    def test_slow_close_passes_bytes_immediately_and_delays_markers(
        self, mark: StreamMarker
    ) -> None:
        assert pushed(through(SlowClose(50)), b"x", mark) == [(0.0, b"x"), (50.0, mark)]


class TestTimeout:
    def test_timeout_drops_bytes_and_delivers_only_close(self) -> None:
        chain = through(Timeout(100))
        assert pushed(chain, b"x", StreamMarker.END) == [(100.0, StreamMarker.CLOSE)]
        assert chain.held_bytes == 0

    def test_timeout_closes_stream_without_bytes(self) -> None:
        assert timeline(through(Timeout(100), began_ms=7.0), FOREVER) == [
            (107.0, StreamMarker.CLOSE)
        ]

    def test_timeout_0_never_closes_stream(self) -> None:
        chain = through(Timeout(0))
        assert pushed(chain, b"x", StreamMarker.END) == []
        assert chain.held_bytes == 1

    def test_removed_timeout_releases_bytes_and_does_not_close(self) -> None:
        chain = through(Timeout(100))
        chain.push(b"x", 0.0)
        chain.remove("timeout_downstream", 99.0)
        assert timeline(chain, FOREVER) == [(99.0, b"x")]


class TestBlackHole:
    @pytest.mark.parametrize("mark", list(StreamMarker))
    def test_black_hole_holds_bytes_and_markers_until_removed(self, mark: StreamMarker) -> None:
        chain = through(BlackHole())
        assert pushed(chain, b"x", mark) == []
        chain.remove("black_hole_downstream", 5.0)
        assert timeline(chain, FOREVER) == [(5.0, b"x"), (5.0, mark)]


class TestResetPeer:
    def test_reset_peer_0_resets_immediately_without_bytes(self) -> None:
        assert timeline(through(ResetPeer(0), began_ms=3.0), FOREVER) == [(3.0, StreamMarker.RESET)]

    def test_reset_peer_timeout_counts_from_its_addition(self) -> None:
        chain = through()
        chain.add(NamedToxic.of(ResetPeer(10)), 1000.0)
        assert timeline(chain, FOREVER) == [(1010.0, StreamMarker.RESET)]

    def test_reset_peer_delivers_no_bytes_before_reset(self) -> None:
        assert pushed(through(ResetPeer(10)), b"x") == [(10.0, StreamMarker.RESET)]


class TestSlicer:
    def test_slicer_sends_parts_of_average_size_with_delay(self) -> None:
        seen = pushed(through(Slicer(2, 0, delay=500)), b"abcde", b"f", StreamMarker.END)
        assert seen == [
            (0.0, b"ab"),
            (0.5, b"cd"),
            (1.0, b"e"),
            (1.5, b"f"),
            (2.0, StreamMarker.END),
        ]

    def test_slicer_part_sizes_cover_full_variation(self) -> None:
        chain = through(Slicer(3, 2), chance=drawn(0.0, 1 - 2**-53, 0.5))
        assert [piece for _, piece in pushed(chain, b"abcdefghi")] == [b"a", b"bcdef", b"ghi"]

    def test_slicer_leaves_short_piece_whole(self) -> None:
        data = b"abc"
        chain = through(named := NamedToxic.of(Slicer(3)))
        ((_, piece),) = pushed(chain, data)
        assert (piece, named.counts.fired) == (data, 0)


class TestLimitData:
    @pytest.mark.parametrize(
        ("limit", "pieces", "expected"),
        [
            (0, [b"a"], [StreamMarker.CLOSE]),
            (3, [b"ab"], [b"ab"]),
            (3, [b"abc", b"d"], [b"abc", StreamMarker.CLOSE]),
            (3, [b"abcd"], [b"abc", StreamMarker.CLOSE]),
            (3, [b"ab", b"cd"], [b"ab", b"c", StreamMarker.CLOSE]),
            (3, [b"ab", StreamMarker.END], [b"ab", StreamMarker.END]),
        ],
        ids=["nothing", "below", "exactly", "within a piece", "in the second", "end first"],
    )
    def test_limit_data_closes_stream_beyond_byte_limit(
        self, limit: int, pieces: list[Piece], expected: list[Piece]
    ) -> None:
        seen = pushed(through(LimitData(limit)), *pieces)
        assert [piece for _, piece in seen] == expected

    def test_limit_data_0_keeps_idle_connection_open(self) -> None:
        assert through(LimitData(0)).next_due_ms == NEVER_MS


class TestSlowAccept:
    def test_slow_accept_holds_bytes_until_connection_age(self) -> None:
        chain = through(SlowAccept(50), began_ms=10.0)
        assert pushed(chain, b"x", at_ms=20.0) == [(60.0, b"x")]
        chain.push(b"y", 61.0)
        assert timeline(chain, FOREVER) == [(61.0, b"y")]

    def test_slow_accept_does_not_delay_older_connection(self) -> None:
        chain = through()
        chain.add(NamedToxic.of(SlowAccept(50)), 50.0)
        assert pushed(chain, b"x", at_ms=50.0) == [(50.0, b"x")]


class TestHalfOpen:
    @pytest.mark.parametrize("mark", list(StreamMarker))
    def test_half_open_passes_bytes_and_holds_markers_until_removed(
        self, mark: StreamMarker
    ) -> None:
        chain = through(HalfOpen())
        assert pushed(chain, b"x", mark) == [(0.0, b"x")]
        chain.remove("half_open_downstream", 9.0)
        assert timeline(chain, FOREVER) == [(9.0, mark)]


class TestPacketLoss:
    @pytest.mark.parametrize(
        ("draws", "due_ms"), [((0.9,), 0.0), ((0.1, 0.9), 200.0), ((0.1, 0.1, 0.1, 0.9), 1400.0)]
    )
    def test_each_packet_loss_doubles_wait(self, draws: tuple[float, ...], due_ms: float) -> None:
        assert pushed(through(PacketLoss(0.5), chance=drawn(*draws)), b"x") == [(due_ms, b"x")]

    def test_later_packet_waits_for_lost_packet(self) -> None:
        chain = through(PacketLoss(0.5, 10), chance=drawn(0.1, 0.9))
        assert pushed(chain, b"x", b"y") == [(10.0, b"x"), (10.0, b"y")]

    def test_packet_loss_splits_long_piece_into_packets(self) -> None:
        chain = through(PacketLoss(0.5, 10), chance=drawn(0.9, 0.1, 0.9))
        seen = pushed(chain, bytes(3000))
        assert [(due_ms, len(piece)) for due_ms, piece in seen if isinstance(piece, bytes)] == [
            (0.0, 1460),
            (10.0, 1460),
            (10.0, 80),
        ]

    def test_packet_loss_probability_1_delivers_packet_eventually(self) -> None:
        assert pushed(through(PacketLoss(1, 1)), b"x") == [(float(2**MOST_LOSSES - 1), b"x")]

    def test_packet_loss_probability_0_delays_no_packet(self) -> None:
        assert pushed(through(PacketLoss(0), chance=drawn(0.0)), b"x") == [(0.0, b"x")]


class TestCorrupt:
    @pytest.mark.parametrize(
        ("toxic", "expected"),
        [
            (Corrupt(offsets=(0, 5), set_to=0), b"\0bcde\0gh"),
            (Corrupt(offsets=(99,)), b"abcdefgh"),
            (Corrupt(every=3, xor=0x20), b"abCdeFgh"),
            (Corrupt(every=1, xor=0x20), b"ABCDEFGH"),
            (Corrupt(probability=1, set_to=0x2E), b"........"),
            (Corrupt(offsets=(1,)), b"a\x9dcdefgh"),
        ],
        ids=["offsets", "offset beyond", "every third", "every one", "always", "all bits"],
    )
    @pytest.mark.parametrize("cut", range(9))
    def test_corrupt_changes_expected_bytes_for_any_piece_split(
        self, toxic: Toxic, expected: bytes, cut: int
    ) -> None:
        assert joined(pushed(through(toxic), b"abcdefgh"[:cut], b"abcdefgh"[cut:])) == expected

    def test_corrupt_draws_once_per_changed_byte(self) -> None:
        # 1 - 0.5 ** n is the number that leaves n bytes alone.
        chain = through(
            Corrupt(probability=0.5, set_to=0), chance=drawn(0.75, 0.0, 0.5, 1 - 2**-53)
        )
        assert joined(pushed(chain, b"abcdefgh")) == b"ab\0\0e\0gh"

    @pytest.mark.parametrize("probability", [5e-324, 1e-300])
    def test_corrupt_with_tiny_probability_changes_no_byte(self, probability: float) -> None:
        assert joined(pushed(through(Corrupt(probability=probability)), b"abc")) == b"abc"

    @given(st.integers(0, 99), st.lists(st.binary(max_size=50), max_size=20))
    def test_corrupt_changes_same_bytes_for_split_and_whole_input(
        self, seed: int, pieces: list[bytes]
    ) -> None:
        toxic = Corrupt(probability=0.1)
        cut = pushed(through(toxic, chance=hashed(seed)), *pieces)
        whole = pushed(through(toxic, chance=hashed(seed)), b"".join(pieces))
        assert joined(cut) == joined(whole)

    def test_changed_corrupt_settings_apply_from_next_byte(self) -> None:
        chain = through(named := NamedToxic.of(Corrupt(every=2, set_to=0)))
        chain.push(b"abc", 0.0)
        chain.update(named.updated({"attributes": {"every": 5}}), 0.0)
        assert joined(pushed(chain, b"defgh")) == b"a\0cd\0fgh"

    def test_corrupt_returns_unchanged_piece_as_same_object_uncounted(self) -> None:
        named = NamedToxic.of(Corrupt(offsets=(3,)))
        data = b"abc"
        ((_, piece),) = pushed(through(named), data)
        assert piece is data
        assert named.counts.fired == 0

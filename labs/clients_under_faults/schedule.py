"""The faults and their times: drawn from a seed, and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from harness.proxies.direction import Direction
from harness.proxies.hashed_chance import draw

T = TypeVar("T")
Words = dict[str, Any]

SPAN_MS = 2500  # of the time in which faults begin, and records are sent
FEWEST, MOST = 3, 7
SHORTEST_MS, LONGEST_MS = 100, 3000
STREAMS = ("upstream", "downstream")
APIS = ("Produce", "Produce", "Produce", "Fetch", "Metadata", "InitProducerId", "ListOffsets")
"""Of the frames that are struck alone; what is there more often is drawn more often."""


@dataclass(frozen=True, slots=True)
class ScheduledFault:
    """``kind``: ``toxic`` and ``rule`` have ``words`` as the proxy's control API takes them;
    ``refuse`` closes the port and all connections, ``reset`` resets all connections once."""

    at_ms: int
    for_ms: int
    kind: str
    words: Words

    def __str__(self) -> str:
        said = " ".join(f"{name}={value}" for name, value in self.words.items())
        return f"at {self.at_ms} ms for {self.for_ms} ms: {self.kind} {said}".rstrip()


@dataclass(frozen=True, slots=True)
class ClientWorkload:
    """The drawn settings of the clients: the effect of a fault depends on the records in flight."""

    records: int
    partitions: int
    value_bytes: int
    linger_ms: int
    batch_bytes: int
    in_flight: int
    delivery_timeout_ms: int


@dataclass(frozen=True, slots=True)
class FaultSchedule:
    seed: int
    workload: ClientWorkload
    faults: tuple[ScheduledFault, ...]

    @property
    def healed_ms(self) -> int:
        """The time at which the last fault has ended."""
        return max(fault.at_ms + fault.for_ms for fault in self.faults)

    def to_json(self) -> Words:
        return asdict(self)

    def __str__(self) -> str:
        workload = ", ".join(f"{name} {value}" for name, value in asdict(self.workload).items())
        lines = [f"seed {self.seed}: {workload}", *(f"  {fault}" for fault in self.faults)]
        return "\n".join(lines)


class Chance:
    """Draws by name: no draw depends on another, or on the number of draws before it."""

    def __init__(self, seed: int, about: str = "") -> None:
        self._seed, self._about = seed, about

    def about(self, what: str) -> Chance:
        return Chance(self._seed, f"{self._about}/{what}")

    def number(self, name: str) -> float:
        """Return a number in [0, 1)."""
        return draw(self._seed, "schedule", 0, Direction.UPSTREAM, 0, f"{self._about}/{name}")

    def whole(self, name: str, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return low + int(self.number(name) * (high - low + 1))

    def one_of(self, name: str, choices: Sequence[T]) -> T:
        return choices[int(self.number(name) * len(choices))]


def schedule(seed: int) -> FaultSchedule:
    """Return the schedule of a seed, the same on every machine."""
    chance = Chance(seed)
    faults = [_fault(chance.about(f"fault {n}"), n) for n in range(chance.whole("n", FEWEST, MOST))]
    faults.sort(key=lambda fault: fault.at_ms)
    return FaultSchedule(seed, _workload(chance.about("workload")), tuple(faults))


def _workload(chance: Chance) -> ClientWorkload:
    return ClientWorkload(
        records=chance.whole("records", 200, 400),
        partitions=chance.whole("partitions", 1, 3),
        value_bytes=chance.one_of("value", (20, 200, 2000)),
        linger_ms=chance.one_of("linger", (0, 5, 50)),
        batch_bytes=chance.one_of("batch", (500, 4000, 16384)),
        in_flight=chance.whole("in flight", 1, 5),
        delivery_timeout_ms=chance.one_of("timeout", (60_000, 60_000, 60_000, 3_000)),
    )


def _fault(chance: Chance, ordinal: int) -> ScheduledFault:
    name = chance.one_of("name", tuple(MAKERS))
    kind, words = MAKERS[name](chance)
    if kind in ("toxic", "rule"):
        words = {"name" if kind == "toxic" else "id": f"{name} {ordinal}", **words}
    at_ms = chance.whole("at", 0, SPAN_MS)
    for_ms = chance.whole("for", SHORTEST_MS, LONGEST_MS)
    return ScheduledFault(at_ms, 0 if kind == "reset" else for_ms, kind, words)


# -- bytes -----------------------------------------------------------------------------------------

Made = tuple[str, Words]


def _toxic(chance: Chance, type_name: str, **attributes: Any) -> Made:
    stream = chance.one_of("stream", STREAMS)
    toxicity = chance.one_of("toxicity", (1.0, 1.0, 0.5))
    return "toxic", {
        "type": type_name,
        "stream": stream,
        "toxicity": toxicity,
        "attributes": attributes,
    }


def _latency(chance: Chance) -> Made:
    latency, jitter = chance.whole("latency", 10, 400), chance.whole("jitter", 0, 200)
    return _toxic(chance, "latency", latency=latency, jitter=jitter)


def _slicer(chance: Chance) -> Made:
    size, delay_us = chance.one_of("size", (1, 7, 100)), chance.whole("delay", 0, 2000)
    return _toxic(chance, "slicer", average_size=size, size_variation=size // 2, delay=delay_us)


def _bandwidth(chance: Chance) -> Made:
    return _toxic(chance, "bandwidth", rate=chance.whole("rate", 2, 60))


def _packet_loss(chance: Chance) -> Made:
    share, wait_ms = 0.05 + 0.4 * chance.number("share"), chance.whole("wait", 50, 200)
    return _toxic(chance, "packet_loss", probability=round(share, 3), retransmission=wait_ms)


def _cut_at_byte(chance: Chance) -> Made:
    return _toxic(chance, "limit_data", bytes=chance.whole("bytes", 0, 6000))


def _black_hole(chance: Chance) -> Made:
    return _toxic(chance, "black_hole")


def _silence_then_close(chance: Chance) -> Made:
    return _toxic(chance, "timeout", timeout=chance.whole("timeout", 10, 800))


def _silence_then_reset(chance: Chance) -> Made:
    return _toxic(chance, "reset_peer", timeout=chance.whole("timeout", 0, 800))


def _half_open(chance: Chance) -> Made:
    return _toxic(chance, "half_open")


def _slow_close(chance: Chance) -> Made:
    return _toxic(chance, "slow_close", delay=chance.whole("delay", 50, 800))


def _slow_accept(chance: Chance) -> Made:
    return _toxic(chance, "slow_accept", delay=chance.whole("delay", 50, 800))


# -- frames ----------------------------------------------------------------------------------------


def _rule(chance: Chance, on: str, **action: Any) -> Made:
    words: Words = {"on": on, "api": chance.one_of("api", APIS)}
    if chance.number("which") < 0.5:
        words["first"] = chance.whole("first", 1, 3)
    else:
        words["probability"] = chance.one_of("probability", (0.1, 0.3, 0.6))
    return "rule", {**words, **action}


def _ending(chance: Chance) -> str:
    return chance.one_of("ending", ("close", "reset"))


def _lost_request(chance: Chance) -> Made:
    return _rule(chance, "request", **{_ending(chance): "before"})


def _lost_response(chance: Chance) -> Made:
    return _rule(chance, "response", **{_ending(chance): "before"})


def _end_after_request(chance: Chance) -> Made:
    """The broker receives the request and finds the connection closed when it answers."""
    return _rule(chance, "request", **{_ending(chance): "after"})


def _half_request(chance: Chance) -> Made:
    cut = {"at_byte": chance.whole("byte", 1, 200), "then": _ending(chance)}
    return _rule(chance, "request", truncate=cut)


def _half_response(chance: Chance) -> Made:
    cut = {"at_byte": chance.whole("byte", 1, 60), "then": _ending(chance)}
    return _rule(chance, "response", truncate=cut)


def _late_response(chance: Chance) -> Made:
    return _rule(chance, "response", delay=chance.whole("delay", 100, LONGEST_MS))


def _late_request(chance: Chance) -> Made:
    """The broker may receive it after the client's timeout, and after the request's retry."""
    return _rule(chance, "request", delay=chance.whole("delay", 100, LONGEST_MS))


MAKERS: dict[str, Callable[[Chance], Made]] = {
    "latency": _latency,
    "slicer": _slicer,
    "bandwidth": _bandwidth,
    "packet loss": _packet_loss,
    "cut at a byte": _cut_at_byte,
    "black hole": _black_hole,
    "silence, then close": _silence_then_close,
    "silence, then reset": _silence_then_reset,
    "half-open": _half_open,
    "slow close": _slow_close,
    "slow accept": _slow_accept,
    "lost request": _lost_request,
    "lost response": _lost_response,
    "end after request": _end_after_request,
    "half a request": _half_request,
    "half a response": _half_response,
    "late response": _late_response,
    "late request": _late_request,
    "refuse": lambda _: ("refuse", {}),
    "reset": lambda _: ("reset", {}),
}

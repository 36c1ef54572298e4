"""Whole messages, encoded and decoded by us and by each peer that has them."""

from __future__ import annotations

from collections.abc import Iterator

from bench.codec.peers import Calls, aiokafka, kafka_python, kio
from bench.codec.rounds import medians
from bench.codec.samples import AIOKAFKA_SAMPLES, SAMPLES
from bench.codec.table import CodecResult, CodecTarget
from harness.codec import decode, encode
from harness.codec.structs import Message

TARGETS = [
    CodecTarget("decode", "kafka-python", mean=1.8, least=1.1),
    CodecTarget("encode", "kafka-python", mean=6.0, least=3.0),
    CodecTarget("encode", "kio", mean=10.0, least=0.0),
]
PEERS = {"kafka-python": kafka_python, "kio": kio}


def results() -> Iterator[CodecResult]:
    """Every sample against every peer, encode and decode."""
    for version, make in SAMPLES:
        message = make()
        raw = encode(message, version)
        yield from _compared(
            message,
            version,
            raw,
            {name: calls(message, version, raw) for name, calls in PEERS.items()},
        )
    for version, make in AIOKAFKA_SAMPLES:
        message = make()
        raw = encode(message, version)
        yield from _compared(message, version, raw, {"aiokafka": aiokafka(message, version, raw)})


def _compared(
    message: Message, version: int, raw: bytes, peers: dict[str, Calls]
) -> Iterator[CodecResult]:
    cls = type(message)
    ours: Calls = (lambda: encode(message, version), lambda: decode(cls, version, raw))
    sides = {"ours": ours, **peers}
    case = f"{cls.__name__} v{version}, {len(raw):,} bytes"
    _require_same_work(case, sides, raw)
    for index, work in enumerate(("encode", "decode")):
        took = medians({name: calls[index] for name, calls in sides.items()})
        for peer in peers:
            yield CodecResult(work, case, peer, took["ours"] * 1e6, took[peer] * 1e6)


def _require_same_work(case: str, sides: dict[str, Calls], raw: bytes) -> None:
    """Every side writes these bytes and reads twice the same of them; RuntimeError if not."""
    for name, (encoded, decoded) in sides.items():
        if encoded() != raw or decoded() != decoded():
            raise RuntimeError(f"{case}: {name} does not do the same work")

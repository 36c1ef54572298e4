"""Record formats: what the official classes write we read, and what we write they read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from harness.codec import CodecError
from harness.codec.records.compression import decompress
from labs.official_classes import our_batches
from labs.official_classes.counts import Count
from labs.official_classes.official import OfficialClasses
from labs.official_classes.random_batches import Batch, batches

Asked = tuple[str, Batch, bytes]


def check_batches(official: OfficialClasses, each: int, seed: int) -> Count:
    """``each`` batches of every magic, codec and kind, built by both and read by both."""
    count = Count()
    drawn = list(batches(random.Random(seed), each))
    theirs = list(official.ask(((kind, batch), {"ask": "build", **batch}) for kind, batch in drawn))
    for (kind, batch), answer in theirs:
        compare_built(kind, batch, answer, count)
    for whose, (asked, answer) in _read_back(official, theirs, count):
        compare_read(f"{asked[0]}, written by {whose}", asked[1], answer, count)
    return count


def _read_back(
    official: OfficialClasses, theirs: list[Any], count: Count
) -> Iterator[tuple[str, Any]]:
    for whose in ("them", "us"):
        written = (
            (kind, our_batches.built(batch) if whose == "us" else bytes.fromhex(answer["hex"]))
            for (kind, batch), answer in theirs
            if "error" not in answer
        )
        questions = (((kind, raw), {"ask": "read", "hex": raw.hex()}) for kind, raw in written)
        for pair in official.ask(questions):
            yield whose, pair


def compare_built(kind: str, batch: Batch, answer: dict[str, Any], count: Count) -> None:
    """Compare the bytes; of compressed batches those before compression."""
    count.compared += 1
    count.layouts.add(kind)
    if "error" in answer:
        count.problems.append(f"{kind}: the official builder says {answer['error']}")
        return
    found = unlike(bytes.fromhex(answer["hex"]), our_batches.built(batch))
    if found:
        count.problems.append(f"{kind}: built {found}, from {batch}")


def unlike(theirs: bytes, ours: bytes) -> str:
    """Return the difference: any byte; of compressed batches the bytes before compression, and the
    headers.
    """
    if theirs == ours:
        return ""
    try:
        packed, ours_packed = list(our_batches.payloads(theirs)), list(our_batches.payloads(ours))
        if not all(codec for codec, _ in packed):
            return f"{theirs.hex()}, ours {ours.hex()}"
        found = difference(_unpacked(packed), _unpacked(ours_packed))
        return found or difference(_head(theirs), _head(ours))
    except CodecError as error:
        return str(error)


def _unpacked(packed: list[tuple[int, bytes]]) -> list[str]:
    """The records as they were before compression."""
    return [decompress(codec, data, our_batches.LIMIT_BYTES).hex() for codec, data in packed]


def _head(data: bytes) -> list[dict[str, Any]]:
    """Return the header, except for the fields that depend on the compressor."""
    read, _ = our_batches.read(data)
    return [{**batch, "size_bytes": 0, "checksum": 0} for batch in read]


def compare_read(kind: str, raw: bytes, answer: dict[str, Any], count: Count) -> None:
    """Compare the values that both read out of the bytes."""
    count.compared += 1
    if "error" in answer:
        count.problems.append(f"{kind}: the official reader says {answer['error']}")
        return
    try:
        ours, whole_bytes = our_batches.read(raw)
    except CodecError as error:
        count.problems.append(f"{kind}: ours says {error}")
        return
    if not answer["valid_bytes"] == whole_bytes == len(raw):
        count.problems.append(
            f"{kind}: {answer['valid_bytes']} bytes read, ours {whole_bytes}, of {len(raw)}"
        )
    if answer["batches"] != ours:
        count.problems.append(f"{kind}: read {difference(answer['batches'], ours)}")


def difference(theirs: Any, ours: Any, path: str = "") -> str:
    """The first place where two readings differ."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = (
            (f"{path}[{at}]", a, b) for at, (a, b) in enumerate(zip(theirs, ours, strict=True))
        )
        return next((difference(a, b, at) for at, a, b in pairs if a != b), "")
    if isinstance(theirs, dict) and isinstance(ours, dict):
        pairs = ((f"{path}.{at}", theirs.get(at), ours.get(at)) for at in {**theirs, **ours})
        return next((difference(a, b, at) for at, a, b in pairs if a != b), "")
    if theirs == ours:
        return ""
    return f"{path}: {theirs!r}, ours {ours!r}"

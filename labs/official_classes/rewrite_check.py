"""Batches that the log cleaner has rewritten, and batches in the form of older readers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from harness.codec import CodecError
from harness.codec.records import (
    decode_batches,
    decode_message_set,
    down_convert,
    up_convert,
)
from harness.codec.records.run_conversion import down_convert_run
from harness.reference_broker.state.cleaning.batch_compaction import rewritten
from labs.message_values.values import outcome
from labs.official_classes import our_batches
from labs.official_classes.counts import Count
from labs.official_classes.official import OfficialClasses
from labs.official_classes.random_batches import APPEND, CODECS, CREATE, Batch, batches
from labs.official_classes.record_check import compare_read, unlike

RETENTION_MS = 5_000
MAGIC_AT = 16


def check_compacted(official: OfficialClasses, each: int, seed: int) -> Count:
    """Compare the rest of a batch that keeps some records, none, or tombstones up to a horizon.

    Ours can read theirs; of magic 2, ours is the same.
    """
    count = Count()
    chance = random.Random(seed)
    questions = (
        ((kind, raw, choice), {"ask": "compact", "hex": raw.hex(), **choice})
        for kind, batch, raw in _written(seed, each)
        for choice in (_choice(chance, batch),)
    )
    left = []
    for (kind, raw, choice), answer in official.ask(questions):
        if "error" in answer:
            count.problems.append(f"{kind}: the official filter says {answer['error']}")
            continue
        theirs = bytes.fromhex(answer["hex"])
        left.append((f"{kind}, compacted", theirs))
        if raw[MAGIC_AT] == 2 and (found := unlike(theirs, our_rest(raw, choice))):
            count.problems.append(f"{kind}, compacted with {choice}: {found}")
    asked = (((kind, raw), {"ask": "read", "hex": raw.hex()}) for kind, raw in left)
    for (kind, raw), answer in official.ask(asked):
        count.layouts.add(kind)
        compare_read(kind, raw, answer, count)
    return count


def our_rest(raw: bytes, choice: dict[str, Any]) -> bytes:
    """Return the rest of the batch that the reference broker keeps."""
    (batch,) = decode_batches(raw)
    offsets = [batch.base_offset + (record.offset_delta or 0) for record in batch.records]
    kept = [position for position, offset in enumerate(offsets) if offset in choice["keep"]]
    return rewritten(raw, kept, choice["now"] + choice["delete_retention_ms"])


def _choice(chance: random.Random, batch: Batch) -> dict[str, Any]:
    share = chance.choice((0, 0.3, 0.9, 1))
    keep = [one["offset"] for one in batch["records"] if chance.random() < share]
    now = chance.choice((0, 1_700_000_000_000))
    return {"keep": keep, "now": now, "delete_retention_ms": RETENTION_MS}


def _written(seed: int, each: int) -> Iterator[tuple[str, Batch, bytes]]:
    for kind, batch in batches(random.Random(seed), each):
        yield kind, batch, our_batches.built(batch)


def check_down_conversion(official: OfficialClasses, each: int, seed: int) -> Count:
    """Magic 2 to 1 and 0, 1 to 0, from the first offset or one inside; 3.9 is the last that can."""
    count = Count()
    chance = random.Random(seed)
    questions = (
        ((f"{kind}, to magic {magic}", raw, magic, first), _conversion(raw, magic, first))
        for kind, batch, raw in _written(seed, each)
        for magic in range(batch["magic"])
        for first in (chance.choice((0, chance.choice(batch["records"])["offset"])),)
    )
    for (kind, raw, magic, first), answer in official.ask(questions):
        for client in (by_run, by_batch) if raw[MAGIC_AT] == 2 else (by_run,):
            ours = outcome(partial(client, raw, magic, first), CodecError)
            compare_converted(kind, ours, answer, count)
    return count


def _conversion(raw: bytes, magic: int, first: int) -> dict[str, Any]:
    return {"ask": "down_convert", "hex": raw.hex(), "to_magic": magic, "first_offset": first}


def by_run(raw: bytes, to_magic: int, first_offset: int) -> bytes:
    """Return our conversion of a batch of any magic."""
    return down_convert_run(raw, to_magic, first_offset, limit_bytes=our_batches.LIMIT_BYTES)


def by_batch(raw: bytes, to_magic: int, first_offset: int) -> bytes:
    """Return our conversion of a batch of magic 2 alone."""
    return b"".join(down_convert(one, to_magic, first_offset) for one in decode_batches(raw))


def compare_converted(
    kind: str, ours: bytes | CodecError, answer: dict[str, Any], count: Count
) -> None:
    """Compare the bytes, with compression those before it; both may also refuse."""
    count.compared += 1
    count.layouts.add(kind)
    if isinstance(ours, CodecError) or "error" in answer:
        if not (isinstance(ours, CodecError) and "error" in answer):
            count.problems.append(f"{kind}: {answer}, ours {ours!r}")
        return
    found = unlike(bytes.fromhex(answer["hex"]), ours)
    if found:
        count.problems.append(f"{kind}: {found}")


def check_up_conversion(official: OfficialClasses, each: int, seed: int) -> Count:
    """Sets of magic 0 and 1 as a broker appends them to a log of magic 2, in each codec."""
    count = Count()
    chance = random.Random(seed)
    questions = (
        ((f"{kind}, to {into['compression']}", raw, into), {"ask": "up_convert", **into})
        for kind, batch, raw in _written(seed, each)
        if batch["magic"] < 2
        for into in (_target(chance, batch, raw),)
    )
    for (kind, raw, into), answer in official.ask(questions):
        ours = up_convert(
            decode_message_set(raw),
            into["base_offset"],
            partition_leader_epoch=into["partition_leader_epoch"],
            compression=into["compression"],
            log_append_time=into["log_append_time"] if into["timestamp_type"] == APPEND else None,
        )
        compare_appended(kind, ours, answer, count)
    return count


def _target(chance: random.Random, batch: Batch, raw: bytes) -> dict[str, Any]:
    """Draw the batch to append to: the properties that the set does not contain."""
    by_broker = chance.random() < 0.3
    return {
        **batch,
        "magic": 2,
        "hex": raw.hex(),
        "base_offset": chance.choice((0, 5, 2**40)),
        "partition_leader_epoch": chance.choice((-1, 0, 7)),
        "compression": chance.choice(CODECS),
        "timestamp_type": APPEND if by_broker else CREATE,
        "log_append_time": 1_700_000_000_000 if by_broker else -1,
    }


def compare_appended(kind: str, ours: bytes, answer: dict[str, Any], count: Count) -> None:
    """Compare the batches, except for the parts that depend on the compressor."""
    count.compared += 1
    count.layouts.add(kind)
    if "error" in answer:
        count.problems.append(f"{kind}: the official builder says {answer['error']}")
        return
    found = unlike(bytes.fromhex(answer["hex"]), ours)
    if found:
        count.problems.append(f"{kind}: {found}")

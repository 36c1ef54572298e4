"""Damaged batches: refused by both, or read to the same values."""

from __future__ import annotations

import random
import re
from typing import Any

from harness.codec import CodecError
from labs.official_classes import our_batches
from labs.official_classes.counts import Count
from labs.official_classes.hostile_batches import hostile
from labs.official_classes.official import OfficialClasses
from labs.official_classes.record_check import difference

# Where the two may differ: what is said of it, and why. A judge is stricter than a reader must be.
REASONS = {
    r"refused by ours \(.*length -\d+ with": "readers take every negative length for null",
    r"refused by ours \(.*bytes behind its value": "readers do not look behind a message's value",
    r"refused by ours \(.*magic \d inside of magic": "refused by the broker's validation only",
    r"refused by ours \(.*varint above 32 bits": "readers drop the bits that are too many",
    r"refused by ours \(.*: 0 records promised": "readers do not look into a batch of no records",
    r"refused by ours \(.*1 records promised, 2 found": "readers stop behind the first lz4 frame",
    r"refused by ours \(gzip: .*incorrect header check": "readers ignore rubbish behind gzip",
    r"refused by ours \(gzip: .*unknown header flags": "readers pass over bits without meaning",
    r"refused by theirs \(.*newLimit < 0": "the length overflows there; here the batch is partial",
}


def check_refusals(official: OfficialClasses, each: int, seed: int) -> Count:
    """``each`` of every damage; a reason that is not met any more is a problem too."""
    count = Count()
    met: set[str] = set()
    drawn = (
        ((name, raw), {"ask": "read", "hex": raw.hex()})
        for name, raw in hostile(random.Random(seed), each)
    )
    for (name, raw), answer in official.ask(drawn):
        count.compared += 1
        count.layouts.add(name)
        found = disagreement(raw, answer)
        reason = next((one for one in REASONS if re.match(one, found)), None) if found else None
        if reason:
            met.add(reason)
        elif found:
            count.problems.append(f"{name}: {found}: {raw.hex()}")
    stale = [reason for reason in REASONS if reason not in met]
    count.problems += [f"no difference any more: {reason}" for reason in stale]
    return count


def disagreement(raw: bytes, answer: dict[str, Any]) -> str:
    """Empty when both refuse, or both read the same values."""
    try:
        ours, whole_bytes = our_batches.read(raw)
    except CodecError as error:
        return "" if "error" in answer else f"refused by ours ({error}), read: {answer['batches']}"
    if "error" in answer:
        return f"refused by theirs ({answer['error']}), read: {ours}"
    if answer["valid_bytes"] != whole_bytes:
        return f"{answer['valid_bytes']} bytes read, ours {whole_bytes}"
    return difference(answer["batches"], ours)

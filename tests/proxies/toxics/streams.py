"""A stream through toxics, with given chance and time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from harness.proxies.toxics.chain import Chain, Chance
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.toxic import Piece, Toxic


def drawn(*numbers: float) -> Chance:
    """A chance with these numbers, the last one repeated; draw 0 is 0.0, so all toxics strike."""

    def chance(name: str, n: int) -> float:
        return numbers[min(n, len(numbers)) - 1] if n else 0.0

    return chance


def hashed(seed: object) -> Chance:
    """A chance that depends on nothing but the arguments."""

    def chance(name: str, n: int) -> float:
        digest = hashlib.blake2b(f"{seed}/{name}/{n}".encode(), digest_size=8).digest()
        return (int.from_bytes(digest, "big") >> 11) / (1 << 53)

    return chance


def through(
    *toxics: Toxic | NamedToxic,
    chance: Chance | None = None,
    began_ms: float = 0.0,
    struck: Callable[[NamedToxic], None] | None = None,
) -> Chain:
    """A chain of these toxics, named by their types."""
    named = [toxic if isinstance(toxic, NamedToxic) else NamedToxic.of(toxic) for toxic in toxics]
    return Chain(chance or drawn(0.5), began_ms, named, struck=struck)


def timeline(chain: Chain, until_ms: float) -> list[tuple[float, Piece]]:
    """Every piece with the time at which it came out, with an advance at each due time."""
    seen: list[tuple[float, Piece]] = []
    while (due_ms := chain.next_due_ms) <= until_ms:
        pieces = chain.advance(due_ms)
        seen += [(due_ms, piece) for piece in pieces]
    return seen

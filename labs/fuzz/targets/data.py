"""Data that is framed but by a request: coordinators' topics, metadata records, files, user data.

An input is a byte that chooses the reader, then what it reads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import google_crc32c

from harness.codec import CodecError, DecodeError, UnsupportedVersionError
from labs.data_vectors.data_vectors import vector, vector_names
from labs.fuzz.memory import check_memory, sampled
from labs.fuzz.targets.framing_readers import READERS
from labs.fuzz.targets.messages import HOSTILE

RELEASES = ("4.4.0", "3.9.2", "2.8.2")
NAMES = tuple(sorted(READERS))
OWN_VALUE_BYTES = 7  # the reader of control keys brings a value of its own
_MEASURED = 256  # one input in so many


def check(data: bytes) -> None:
    """A value, a DecodeError with a place in the bytes, or a version that is not known."""
    if not data:
        return
    read, raw = READERS[NAMES[data[0] % len(NAMES)]], data[1:]
    problem = _problem(read, raw)
    assert problem is None or isinstance(problem, DecodeError | UnsupportedVersionError)
    if isinstance(problem, DecodeError):
        assert 0 <= problem.offset <= max(len(raw), OWN_VALUE_BYTES), problem
    if sampled(data, _MEASURED):
        check_memory(lambda: read(raw), len(raw))


def _problem(read: Callable[[bytes], object], raw: bytes) -> CodecError | None:
    try:
        read(raw)
    except CodecError as error:
        return error
    return None


def seeds() -> Iterator[tuple[str, bytes]]:
    """Yield the bytes that Kafka's own classes wrote, for each reader that takes them."""
    vectors = {
        vector(name, release): (name, release)
        for release in RELEASES
        for name in vector_names(release)
        if not name.startswith("quorum")  # a line of JSON
    }
    for raw, (name, release) in vectors.items():
        for number, reader in enumerate(NAMES):
            if _problem(READERS[reader], raw) is None:
                yield f"{name}-{release}-{reader}".replace(" ", "_"), bytes([number]) + raw


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the same bytes for another reader, or with a wrong length."""
    if len(data) < 2:
        return data
    if chance.random() < 0.2:
        return bytes([chance.randrange(len(NAMES))]) + data[1:]
    made = bytearray(data)
    at = chance.randrange(1, len(made))
    made[at : at + chance.randrange(4)] = chance.choice(HOSTILE)
    return bytes(made)


def repaired(data: bytes, chance: random.Random) -> bytes:
    """As it is, but for the checksum of a snapshot of producers."""
    if len(data) < 8 or NAMES[data[0] % len(NAMES)] != "snapshot" or chance.random() < 0.2:
        return data
    crc: int = google_crc32c.value(data[7:])
    return data[:3] + crc.to_bytes(4, "big") + data[7:]

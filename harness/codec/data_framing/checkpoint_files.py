"""Checkpoint files: a version, how many entries there are, and an entry a line.

In a log directory a line is ``TOPIC PARTITION OFFSET`` (recovery points, high watermarks, where
logs start, how far they are cleaned), in a partition's folder ``EPOCH START_OFFSET`` (KIP-101). A
file that was never written is empty, and so are its entries, as behind a version alone. Source:
classes CheckpointFile, OffsetCheckpointFile, LeaderEpochCheckpointFile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.codec.errors import DecodeError

CHECKPOINT_VERSION = 0
_OFFSETS, _EPOCHS = "OffsetCheckpoint", "LeaderEpochCheckpoint"
_HEAD_LINES = 2
_NUMBER, _SHOWN = re.compile(r"-?[0-9]{1,20}"), 40
_INT32, _INT64 = range(-(1 << 31), 1 << 31), range(-(1 << 63), 1 << 63)


class CheckpointedOffset(NamedTuple):
    """One line of an offset checkpoint of a log directory: a partition and its offset."""

    topic: str
    partition: int
    offset: int


class EpochStart(NamedTuple):
    """The first offset that was written in a leader epoch."""

    epoch: int
    start_offset: int


class _Line(NamedTuple):
    """One line, and the byte where it begins."""

    number: int
    offset: int
    words: list[str]


def read_offset_checkpoint(data: bytes) -> list[CheckpointedOffset]:
    """The whole file. Raises DecodeError; ``path`` is the line, counted from 1."""
    return [
        CheckpointedOffset(
            line.words[0],
            _number(line, 1, _INT32, _OFFSETS),
            _number(line, 2, _INT64, _OFFSETS),
        )
        for line in _entries(data, len(CheckpointedOffset._fields), _OFFSETS)
    ]


def offset_checkpoint_bytes(entries: Iterable[CheckpointedOffset]) -> bytes:
    """The whole file."""
    return _written(entries)


def read_leader_epoch_checkpoint(data: bytes) -> list[EpochStart]:
    """The whole file. Raises DecodeError; ``path`` is the line, counted from 1."""
    return [
        EpochStart(_number(line, 0, _INT32, _EPOCHS), _number(line, 1, _INT64, _EPOCHS))
        for line in _entries(data, len(EpochStart._fields), _EPOCHS)
    ]


def leader_epoch_checkpoint_bytes(entries: Iterable[EpochStart]) -> bytes:
    """The whole file."""
    return _written(entries)


def _written(entries: Iterable[tuple[object, ...]]) -> bytes:
    lines = [" ".join(map(str, entry)) for entry in entries]
    return "".join(f"{line}\n" for line in (CHECKPOINT_VERSION, len(lines), *lines)).encode()


def _entries(data: bytes, words: int, name: str) -> Iterator[_Line]:
    if not data:
        return
    lines = list(_lines(data, name))
    version = _number(lines[0], 0, _INT32, name)
    if version != CHECKPOINT_VERSION:
        raise _fail(f"version {version}; {CHECKPOINT_VERSION} is known", name, lines[0])
    if len(lines) < _HEAD_LINES:
        return  # as Kafka has it
    count = _number(lines[1], 0, _INT32, name)
    entries = lines[_HEAD_LINES:]
    for line in entries:
        if len(line.words) != words:
            raise _fail(f"{words} words expected, {len(line.words)} there", name, line)
        yield line
    if len(entries) != count:
        raise _fail(f"{count} entries promised, {len(entries)} there", name, lines[1])


def _lines(data: bytes, name: str) -> Iterator[_Line]:
    offset = 0
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        try:
            yield _Line(number, offset, raw.decode().split())
        except UnicodeDecodeError as error:
            raise _fail("no UTF-8", name, _Line(number, offset, [])) from error
        offset += len(raw)


def _number(line: _Line, place: int, allowed: range, name: str) -> int:
    word = line.words[place] if len(line.words) > place else ""
    if not _NUMBER.fullmatch(word):
        raise _fail(f"a number expected, not {word[:_SHOWN]!r}", name, line)
    number = int(word)
    if number not in allowed:
        raise _fail(f"{number} is out of range", name, line)
    return number


def _fail(problem: str, name: str, line: _Line) -> DecodeError:
    path = f"line {line.number}"
    return DecodeError(problem, message=name, version=-1, path=path, offset=line.offset)

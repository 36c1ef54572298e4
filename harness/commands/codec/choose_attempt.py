"""The choice between all ways to read an input: the one that decodes, or an error with the list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import click

from harness.commands.codec.attempts import Attempt, attempt_messages, attempt_records
from harness.commands.codec.framing import (
    ALONE,
    BODY,
    FRAMES,
    HEADER_AND_BODY,
    RECORDS,
    RECORDS_BEHIND_LENGTH,
    Framing,
)
from harness.commands.codec.input_forms.foreign_files import foreign_file
from harness.commands.codec.input_forms.table import RAW
from harness.commands.codec.input_forms.text_form import Reading
from harness.commands.codec.message_options import MessageChoice

_NO_MESSAGE = (
    "which message? Give --api Fetch --version 12 --kind response, --kind records, or --name "
    "SCHEMA; no request with its header and no record batch can be read in"
)


def chosen_attempt(
    readings: list[Reading], asked: MessageChoice, frames: bool | None = None
) -> Attempt:
    """Return the attempt that decodes without an error, or the only one that can be meant.

    ``frames``: a length precedes each message, or none does; None if both may be. Raises
    click.UsageError for an ambiguous input, for a file that is something else, and for no message.
    """
    attempts = [
        one
        for reading in readings
        for one in _attempts(reading, asked)
        if frames in (None, one.framing.has_lengths)
    ]
    clean = [one for one in attempts if one.is_clean]
    if clean:
        return _only([one for one in clean if one.rank == min(each.rank for each in clean)])
    for reading in readings:
        what = foreign_file(reading.data) if reading.form == RAW else None
        if what is not None:
            raise click.UsageError(what)
    if not attempts:
        raise click.UsageError("no frame with its length in front begins the input")
    exact = [one for one in attempts if one.has_exact_lengths and one.is_plausible]
    if exact:  # no other bytes have their own number in front by chance
        return _only(exact)
    possible = [one for one in attempts if one.is_plausible and not one.rank]
    if not possible and asked.is_open:
        raise click.UsageError(f"{_NO_MESSAGE} {attempts[0].said}")
    return _only(possible or [_first_of(attempts, reading) for reading in readings])


def _first_of(attempts: list[Attempt], reading: Reading) -> Attempt:
    return next(one for one in attempts if one.reading is reading)


def _only(attempts: list[Attempt]) -> Attempt:
    if len(attempts) == 1:
        return attempts[0]
    lines = [f"the input can be read in {len(attempts)} ways; choose one by its options:"]
    for one in attempts:
        ending = f" ({one.problem})" if one.problem else ""
        lines.append(f"  {one.options}  {one.said}{ending}")
    raise click.UsageError("\n".join(lines))


def _attempts(reading: Reading, asked: MessageChoice) -> Iterator[Attempt]:
    if asked.is_open:
        request = replace(asked, kind="request", with_header=True)
        yield from _messages(reading, request, ((HEADER_AND_BODY, 0), (FRAMES, 0)))
    if asked.is_open or asked.is_records:
        yield from _records(reading, replace(asked, kind="records"), is_sure=asked.is_records)
    else:
        yield from _messages(reading, asked, _framings(asked))


def _records(reading: Reading, asked: MessageChoice, is_sure: bool) -> Iterator[Attempt]:
    for framing, rank in ((RECORDS, 0), (RECORDS_BEHIND_LENGTH, 1)):
        made = attempt_records(reading, asked, framing, rank)
        if made is not None:
            made.is_plausible = made.is_plausible or (is_sure and not rank)
            yield made


def _framings(asked: MessageChoice) -> tuple[tuple[Framing, int], ...]:
    """The framings that the options say (0) or might mean (1)."""
    if asked.with_header or asked.header_tells:
        return (HEADER_AND_BODY, 0), (FRAMES, 0)
    if asked.is_of_api:
        return (BODY, 0), (HEADER_AND_BODY, 1), (FRAMES, 1)
    return ((ALONE, 0),)


def _messages(
    reading: Reading, asked: MessageChoice, framings: tuple[tuple[Framing, int], ...]
) -> Iterator[Attempt]:
    for framing, rank in framings:
        made = attempt_messages(reading, asked, framing, rank)
        if made is not None:
            yield made

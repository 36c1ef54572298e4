"""Where ``codec decode`` gets its input from: the argument itself, standard input, or a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from harness.commands.codec.input_forms.table import (
    FORMS,
    RAW,
    Readings,
    content_readings,
    text_readings,
)
from harness.commands.codec.input_forms.text_form import Reading

_SHOWN = 80
_NO_NAME = 16  # characters; a shorter word in the digits of Base64 is a file that is not there


def readings_of(word: str, form: str | None) -> list[Reading]:
    """Return all readings of ``-`` (standard input), of a file or of the argument as text.

    ``form``: the only form to try, if it is given. Raises click.UsageError where there is none, or
    where the word is as well a text as the name of a file.
    """
    if word == "-":
        return _any("standard input", content_readings(sys.stdin.buffer.read(), form))
    path = _file(word)
    of_text = text_readings(word, form if form != RAW else None)
    usual = [reading for reading in of_text.found if reading.is_usual]
    if path is None:
        sure = usual or [one for one in of_text.found if len(word) >= _NO_NAME or "=" in word]
        if not sure:
            raise click.UsageError(_neither(word, form, of_text))
        return sure
    if usual and form is None:
        raise click.UsageError(
            f"{word} is {usual[0].said}, and a file has this name: write ./{word} for the file, or "
            f"give --input {usual[0].form} and the text on standard input"
        )
    try:
        return _any(word, content_readings(path.read_bytes(), form))
    except OSError as error:
        raise click.UsageError(f"{word}: {error.strerror}") from error


def _file(word: str) -> Path | None:
    path = Path(word)
    try:
        return path if path.exists() else None
    except (OSError, ValueError):  # too long a name, or a zero in it
        return None


def _any(where: str, readings: Readings) -> list[Reading]:
    usual = [reading for reading in readings.found if reading.is_usual]
    if usual:
        return usual
    if readings.found:
        return readings.found
    raise click.UsageError(
        f"{where} is text in no form that is read (hex digits, {_forms()}){_near(readings)}; "
        "--input raw takes its characters for the bytes"
    )


def _neither(word: str, form: str | None, readings: Readings) -> str:
    if form is not None:
        return f"neither {form} nor a file: {word[:_SHOWN]}{_near(readings)}"
    return f"neither hex digits nor a file, nor {_forms()}: {word[:_SHOWN]}{_near(readings)}"


def _forms() -> str:
    return ", ".join(form.said for form in FORMS if form.name != "hex")


def _near(readings: Readings) -> str:
    return f"; nearly {'; '.join(readings.near)}" if readings.near else ""

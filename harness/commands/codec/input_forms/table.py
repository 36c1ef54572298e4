"""The table of forms, and all readings of an input."""

from __future__ import annotations

from typing import NamedTuple

from harness.commands.codec.input_forms.base64_text import read_base64
from harness.commands.codec.input_forms.dumps import read_hexdump, read_offsets, read_xxd
from harness.commands.codec.input_forms.hex_digits import read_hex
from harness.commands.codec.input_forms.literals import read_escapes, read_python
from harness.commands.codec.input_forms.number_lists import read_array, read_decimals
from harness.commands.codec.input_forms.text_form import NearMiss, Reading, TextForm

FORMS = (
    TextForm("xxd", "a dump as xxd makes it", read_xxd, is_certain=True),
    TextForm("hexdump", "a dump as hexdump -C makes it", read_hexdump, is_certain=True),
    TextForm("offsets", "a dump of offsets and bytes", read_offsets),
    TextForm("python", "a Python bytes literal", read_python, is_certain=True),
    TextForm("escapes", "a string with escapes", read_escapes, is_certain=True),
    TextForm("array", "an array of numbers", read_array, is_certain=True),
    TextForm("hex", "hex digits", read_hex),
    TextForm("decimal", "decimal numbers", read_decimals),
    TextForm("base64", "Base64", read_base64, is_usual=False),
)
RAW = "raw"
FORM_NAMES = (*(form.name for form in FORMS), RAW)
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


class Readings(NamedTuple):
    """All readings of an input; ``near``: the forms that it nearly has, with the reason."""

    found: list[Reading]
    near: list[str]


def text_readings(text: str, form: str | None = None) -> Readings:
    """Return the readings of a text, by ``form`` alone if it is given."""
    found: list[Reading] = []
    near: list[str] = []
    for one in FORMS:
        if form not in (None, one.name):
            continue
        try:
            read = one.read(text)
        except NearMiss as problem:
            near.append(f"{one.said}: {problem}")
            continue
        if read is not None:
            said = f"{one.said} ({read.detail})" if read.detail else one.said
            is_usual = one.is_usual or form is not None
            found.append(Reading(one.name, said, read.data, one.is_certain, is_usual))
    if near:  # hex digits without one of them are Base64 as well
        found = [reading for reading in found if reading.is_usual]
    certain = [reading for reading in found if reading.is_certain]
    return Readings(certain[:1] or found, near)


def content_readings(content: bytes, form: str | None = None) -> Readings:
    """Return the readings of what stands in a file: a text's, or else the bytes themselves.

    A text in no form has no reading: it was hardly meant as bytes.
    """
    raw = Reading(RAW, "the bytes themselves", content)
    if form == RAW:
        return Readings([raw], [])
    text = _text(content)
    if text is None:
        return Readings([raw] if form is None else [], [])
    return text_readings(text, form)


def _text(content: bytes) -> str | None:
    """Return the content as text, also of UTF-16, which PowerShell writes; None if it is none."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "ascii")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if all(one.isprintable() or one in "\t\r\n" for one in text) else None

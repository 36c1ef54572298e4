"""One attempt to decode an input: its form, its framing, and what came out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harness.codec.dictionary_form import to_dict
from harness.codec.errors import CodecError
from harness.codec.header import RequestRefused, decode_request_header
from harness.codec.messages import RequestHeader
from harness.codec.trace import Traced, trace
from harness.codec.trace_text import trace_lines
from harness.commands.codec.framing import Framing, Spans
from harness.commands.codec.input_forms.text_form import Reading
from harness.commands.codec.message_options import MessageChoice, MessagePart
from harness.commands.codec.records_attempt import RecordsForm

_FIXED_BYTES = 8  # of a request header: key, version, correlation id


@dataclass(slots=True)
class DecodedMessage:
    """One message at ``start``; ``traced`` ends with the first part that could not be read."""

    start: int
    data: bytes
    parts: list[MessagePart]
    traced: list[Traced]


@dataclass(slots=True)
class Attempt:
    """``rank``: 0 for what the options say, 1 for what they might mean.

    ``is_plausible``: the beginning can be what the attempt takes it for. ``has_exact_lengths``:
    lengths precede the messages, and the last one ends with the input.
    """

    reading: Reading
    framing: Framing
    asked: MessageChoice
    rank: int = 0
    messages: list[DecodedMessage] = field(default_factory=list)
    records: list[RecordsForm] = field(default_factory=list)
    problem: CodecError | None = None
    is_plausible: bool = True
    has_exact_lengths: bool = False

    @property
    def is_clean(self) -> bool:
        """True if all bytes were read without an error."""
        whole = all(records.is_whole for records in self.records)
        return self.problem is None and self.is_plausible and whole

    @property
    def said(self) -> str:
        """The form and the framing, for people."""
        size = len(self.reading.data)
        count = len(self.messages) or len(self.records) or 1
        bytes_ = f"{size} byte{'' if size == 1 else 's'}"
        return f"{self.reading.said}, {bytes_}: {self.framing.text(count)}"

    @property
    def options(self) -> str:
        """The options that choose this attempt alone."""
        words = ["--input", self.reading.form]
        words += ["--kind", self.asked.kind] if self.asked.kind else []
        words += ["--with-header"] if self.framing.with_header else []
        return " ".join([*words, "--frames" if self.framing.has_lengths else "--no-frames"])

    def tree(self) -> Iterator[str]:
        """Yield the lines of the tree, up to what could not be read."""
        for number, message in enumerate(self.messages, 1):
            if self.framing.has_lengths:
                yield f"frame {number}, its payload begins at byte {message.start}"
            for part, one in zip(message.parts, message.traced, strict=False):
                size = one.root.stop - one.root.offset
                yield f"{part.cls.__name__} v{part.version}, {size} bytes"
                yield from trace_lines(one.root, message.data, self.asked.written_to)
        for records in self.records:
            yield from records.tree(self.asked.written_to)

    def json_text(self) -> str:
        """Return the values; a list of them if there are several frames. Raises CodecError."""
        made: list[Any] = [_json_form(message) for message in self.messages]
        made += [records.value(self.asked.written_to) for records in self.records]
        return json.dumps(made if len(made) > 1 else made[0], indent=2)


def attempt_messages(
    reading: Reading, asked: MessageChoice, framing: Framing, rank: int = 0
) -> Attempt | None:
    """Decode all messages; None if the bytes cannot lie so. Raises click.UsageError."""
    spans = framing.split(reading.data)
    if spans is None:
        return None
    made = Attempt(reading, framing, replace(asked, with_header=framing.with_header), rank)
    _decode(made, spans)
    return made


def _decode(made: Attempt, spans: Spans) -> None:
    """Fill the attempt, up to the first message that is wrong."""
    made.has_exact_lengths = made.framing.has_lengths and spans.problem is None
    for start, stop in spans.places:
        data = made.reading.data[start:stop]
        try:
            parts = _parts_in(made, data)
        except CodecError as error:
            is_cut = len(data) >= _FIXED_BYTES and not isinstance(error, RequestRefused)
            made.problem, made.is_plausible = error, bool(made.messages) or is_cut
            return
        traced, made.problem = _trace(parts, data)
        made.messages.append(DecodedMessage(start, data, parts, traced))
        if made.problem is not None:
            break
    made.problem = spans.problem or made.problem
    if made.rank or made.framing.has_lengths:
        made.is_plausible = _has_fitting_header(made)


def _parts_in(made: Attempt, data: bytes) -> list[MessagePart]:
    if not made.asked.header_tells:
        return made.asked.parts()
    header, _ = decode_request_header(data)
    return made.asked.of_request(header.request_api_key, header.request_api_version)


def _trace(parts: list[MessagePart], data: bytes) -> tuple[list[Traced], CodecError | None]:
    """One tree a part, up to the first that is wrong."""
    found: list[Traced] = []
    offset = 0
    for part in parts:
        one = trace(part.cls, part.version, data, offset, whole=part is parts[-1])
        found.append(one)
        if one.error is not None:
            return found, one.error
        offset = one.root.stop
    return found, None


def _has_fitting_header(made: Attempt) -> bool:
    """True if each request header has the API and version of the body that was read behind it."""
    for message in made.messages:
        header, body = message.traced[0], message.parts[-1]
        if header.error is not None:
            return False
        found = header.root.value
        if isinstance(found, RequestHeader) and (
            found.request_api_key != body.cls.message_spec.api_key
            or found.request_api_version != body.version
        ):
            return False
    return True


def _json_form(message: DecodedMessage) -> dict[str, Any]:
    """The value alone, or header and body by name."""
    forms = {
        part.role: to_dict(one.message, part.version)
        for part, one in zip(message.parts, message.traced, strict=True)
    }
    return forms if len(forms) > 1 else next(iter(forms.values()))


def attempt_records(
    reading: Reading, asked: MessageChoice, framing: Framing, rank: int = 0
) -> Attempt | None:
    """Read all batches; None if the bytes cannot lie so."""
    spans = framing.split(reading.data)
    if spans is None:
        return None
    made = Attempt(reading, framing, asked, rank)
    made.records = [RecordsForm(reading.data, start, stop) for start, stop in spans.places]
    problems = [records.problem for records in made.records]
    made.problem = spans.problem or next(filter(None, problems), None)
    made.is_plausible = any(records.has_batches for records in made.records)
    return made

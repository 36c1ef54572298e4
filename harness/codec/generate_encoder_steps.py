"""Generated write steps: adjacent values of fixed width become one ``pack``.

The writer collects values until a value of varying width follows; its length belongs to the same
``pack``. Parts go into a list, which is joined once at the end.
"""

from __future__ import annotations

from harness.codec.source import GeneratedSource


class EncoderSteps:
    """Writes the statements that append to the parts ``o``."""

    def __init__(self, source: GeneratedSource, indent: int) -> None:
        self.source, self.indent = source, indent
        self.run: list[tuple[str, str]] = []  # format and value of each
        self.counted: tuple[str, str, str, int] | None = None  # array of numbers before the run

    def add(self, *lines: str) -> None:
        self.source.add(self.indent, *lines)

    def inner(self) -> EncoderSteps:
        """Steps one level deeper."""
        return EncoderSteps(self.source, self.indent + 1)

    def write(self, form: str, value: str) -> None:
        """A value of fixed width; ``x`` is a zero."""
        if form == "16s":
            value = f"uuid_bytes({value})"
        elif form == "?":
            self.add(f"if not ({value} is True or {value} is False): raise Malformed")
        self.run.append((form, value))

    def flush(self) -> None:
        """Write what was collected."""
        part = self._part(self.run)
        if part:
            self.add(f"add({part})")
        self.run, self.counted = [], None

    def flush_length(self, name: str, kind: str) -> None:
        """Write what was collected and then a compact length: of one byte, two, or more."""
        before = self._part(self.run)
        short = self._part([*self.run, ("B", name)]) if before else f"ONE_BYTE[{name}]"
        self.add(f"if {name} < 128: add({short})")
        if kind == "blob":  # those of bytes and records mostly have two
            two = self._part([*self.run, ("B", f"{name} & 127 | 128"), ("B", f"{name} >> 7")])
            self.add(f"elif {name} < 16384: add({two})")
        long = "write_text_length" if kind == "text" else "write_length"
        self.add(f"else: add({before + ' + ' if before else ''}{long}({name}))")
        self.run, self.counted = [], None

    def _part(self, run: list[tuple[str, str]]) -> str:
        """An expression for the bytes of fixed width; '' for none."""
        forms = "".join(form for form, _ in run)
        values = [value for _, value in run if value]
        if self.counted:
            form, array, count, bias = self.counted
            table = self.source.counted(form, forms, bias, "pack")
            return f"{table}[{count}]({', '.join([f'*{array}', *values])})"
        if not values:
            return repr(bytes(len(forms))) if forms else ""
        return f"{self.source.packer(forms, 'pack')}({', '.join(values)})"

    def length(self, name: str, compact: bool, kind: str) -> None:
        """Write the length of a ``text`` or ``blob`` or the count of an ``array``."""
        if compact:
            self.flush_length(name, kind)
        else:
            self.run.append(("h" if kind == "text" else "i", name))
            self.flush()

    def varying(self, value: str, compact: bool, nullable: bool, text: bool) -> None:
        """A string, bytes or records."""
        data, name = self.source.fresh("s"), self.source.fresh("n")
        self.add(f"{data} = {value}")
        indent = self.indent + nullable
        if nullable:
            self.add(f"if {data} is None: {name}, {data} = {0 if compact else -1}, b''", "else:")
        if text:
            self.source.add(indent, f"{data} = {data}.encode()")
        else:
            self.source.add(indent, f"if type({data}) is not bytes: {data} = bytes_of({data})")
        self.source.add(indent, f"{name} = len({data})" + (" + 1" if compact else ""))
        self.length(name, compact, "text" if text else "blob")
        self.add(f"add({data})")

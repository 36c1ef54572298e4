"""Reading one thing after the other: what stands side by side at fixed width is one ``unpack``.

Nothing is read before it must be: fields are collected until a length has to be known, and that
length is part of the same ``unpack``. Likewise the position is not written back after each step: it
is a variable (``p`` or ``q``, in turns) and a constant ahead of it.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.codec.source import GeneratedSource


class DecoderSteps:
    """Writes the statements that read from ``b``; begins and, once settled, ends at ``p``."""

    def __init__(self, source: GeneratedSource, indent: int, tolerant: bool) -> None:
        self.source, self.indent, self.tolerant = source, indent, tolerant
        self.base, self.ahead = "p", 0
        self.run: list[tuple[str, str]] = []  # format and target of each
        self.after: list[str] = []  # statements for when the run has been read
        self.counted: tuple[str, str, str, int] | None = None  # array of numbers before the run

    def add(self, *lines: str) -> None:
        self.source.add(self.indent, *lines)

    def here(self, shift: int = 0) -> str:
        """An expression for the position."""
        ahead = self.ahead + shift
        return self.base if not ahead else f"{self.base} {'-' if ahead < 0 else '+'} {abs(ahead)}"

    def read(self, form: str, target: str) -> None:
        """A value of fixed width; ``16s`` is a UUID."""
        if form == "16s":
            raw = self.source.fresh("raw")
            self.after.append(f"{target} = uuid_of({raw})")
            target = raw
        self.run.append((form, target))

    def flush(self) -> None:
        """Read what was collected."""
        forms = "".join(form for form, _ in self.run)
        targets = [target for _, target in self.run]
        one_by_one = self._unpacked(forms, targets)
        if self.counted:
            self._flush_counted(forms, targets, one_by_one)
        elif one_by_one:
            self.add(one_by_one)
        self.ahead += struct.calcsize(">" + forms)
        self.add(*self.after)
        self.run, self.after, self.counted = [], [], None

    def _unpacked(self, forms: str, targets: list[str]) -> str:
        """The statement that reads these values; '' for none."""
        if not forms:
            return ""
        if forms == "B":
            return f"{targets[0]} = b[{self.here()}]"
        unpack = self.source.packer(forms, "unpack_from")
        return f"{', '.join(targets)}{',' * (len(targets) == 1)} = {unpack}(b, {self.here()})"

    def _flush_counted(self, forms: str, targets: list[str], without: str) -> None:
        """The array and the run in one; many arrays are empty, and that is quicker apart."""
        assert self.counted is not None
        form, target, count, bias = self.counted
        table = self.source.counted(form, forms, bias, "unpack_from")
        width = struct.calcsize(">" + form)
        both = f"{', '.join([f'*{target}', *targets])}, = {table}[{count}](b, {self.here()})"
        self.add(
            f"if {count} > {bias}: {both}", f"else: {target} = []" + f"; {without}" * bool(without)
        )
        self.add(f"{self.base} += {width} * {count}")
        self.ahead -= width * bias

    def settle(self) -> None:
        """Read what was collected, and be at ``p`` itself."""
        self.flush()
        if self.base != "p":
            self.add(f"p = {self.here()}")
        elif self.ahead:
            self.add(f"p += {self.ahead}" if self.ahead > 0 else f"p -= {-self.ahead}")
        self.base, self.ahead = "p", 0

    def length(self, compact: bool, text: bool) -> tuple[str, int]:
        """Read a length or count: (its name, how much it is above the true one).

        A compact one is null at 0 and has more bytes from 128 on: see ``more``.
        """
        name = self.source.fresh("n")
        self.read("B" if compact else ("h" if text else "i"), name)
        self.flush()
        return name, int(compact)

    def whole(self, indent: int, test: str, name: str, read: str) -> None:
        """Add a statement that reads a compact length again with ``read``, if ``test`` is true."""
        shift = f"; {self.base} -= {self.ahead}" if self.ahead else ""
        line = f"if {test}: {name}, {self.base} = {read}(b, {self.here()}){shift}"
        self.source.add(indent, line)

    def require_length(self, name: str, bias: int, text: bool) -> None:
        """Not null, and a compact one whole."""
        if bias:
            read = "read_text_length" if text else "read_length"
            self.whole(self.indent, f"not 0 < {name} < 128", name, read)
        else:
            self.add(f"if {name} < 0: raise Malformed")

    def blob_length(self, name: str, nullable: bool) -> None:
        """Of bytes or records: compact lengths of two bytes are usual."""
        next_byte = f"b[{self.here()}]"
        two_bytes = f"{name} += ({next_byte} << 7) - 128; {self.base} += 1"
        self.add(f"if {name} > 127:")
        self.source.add(self.indent + 1, f"if {next_byte} < 128: {two_bytes}")
        shift = f"; {self.base} -= {self.ahead}" if self.ahead else ""
        read = f"{name}, {self.base} = read_nullable_length(b, {self.here()}){shift}"
        self.source.add(self.indent + 1, f"else: {read}")
        if not nullable:
            self.add(f"if not {name}: raise Malformed")

    def varying(self, target: str, compact: bool, nullable: bool, text: bool) -> None:
        """A string, bytes or records."""
        name, bias = self.length(compact, text)
        other = "q" if self.base == "p" else "p"
        shift = self.ahead - bias
        end = f"{other} = {self.base} + {name}" + (
            f" {'-' if shift < 0 else '+'} {abs(shift)}" * bool(shift)
        )
        mode = "'utf-8', 'replace'" if self.tolerant else ""
        value = f"b[{self.here()}:{other}]" + (f".decode({mode})" if text else "")
        if bias and not text:
            self.blob_length(name, nullable)
        if nullable:
            self.when_not_null(name, bias, text, whole=not text)
            self.source.add(self.indent + 1, end, f"{target} = {value}")
            self.add("else:")
            self.source.add(self.indent + 1, f"{target} = None", f"{other} = {self.here()}")
        else:
            if text or not bias:
                self.require_length(name, bias, text)
            self.add(end, f"{target} = {value}")
        self.base, self.ahead = other, 0

    def when_not_null(self, name: str, bias: int, text: bool, whole: bool = False) -> None:
        """``if`` the length is that of a value; the caller writes what then and else.

        ``whole``: a compact one that may have more than one byte has been read already.
        """
        if bias:
            if not whole:
                read = "read_nullable_text_length" if text else "read_nullable_length"
                self.whole(self.indent, f"{name} > 127", name, read)
            self.add(f"if {name}:")
            return
        if not self.tolerant:
            self.add(f"if {name} < -1: raise Malformed")
        self.add(f"if {name} >= 0:")

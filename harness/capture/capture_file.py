"""Capture files as a stream of TCP segments: pcap and pcapng, gzipped too, through scapy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any

from harness.capture.errors import CaptureError, ScapyMissing
from harness.capture.segment import LINK_TYPES, NoSegment, TcpSegment, read_segment

PACKET_LIMIT_BYTES = 256 * 1024
"""Loopback hands over 64 KiB at once, and more with large offloads."""
_SECOND_NS = 1_000_000_000
_GZIP = b"\x1f\x8b"


class CaptureFile:
    """An open capture; iterate once. Only one packet is held at a time.

    ``counts``: the number of packets that were read, and of those without a segment by reason. A
    pcapng may have interfaces of link types that are not known beside those that are.
    """

    def __init__(self, file: str | IO[bytes]) -> None:
        """Open a path or a binary file. Raises CaptureError, and ScapyMissing without scapy."""
        self.counts: Counter[str] = Counter()
        self._reader, self._read = _open(file)
        self._last_ns = 0

    def __iter__(self) -> Iterator[TcpSegment]:
        """Raises CaptureError if no packet has a link type that is known."""
        foreign = None
        try:
            while (found := self._packet()) is not None:
                self.counts["packets"] += 1
                link_type, data, time_ns, interface = found
                try:
                    segment = read_segment(link_type, data, time_ns)
                    yield segment._replace(interface=interface) if interface else segment
                except NoSegment as reason:
                    self.counts[reason.kind] += 1
                except KeyError:
                    foreign = link_type
                    self.counts[f"of link type {link_type}"] += 1
        finally:
            self._reader.close()
        if foreign is not None and self.counts[f"of link type {foreign}"] == self.counts["packets"]:
            known = ", ".join(f"{kind} ({name})" for kind, name in LINK_TYPES.items())
            raise CaptureError(f"link type {foreign} is not known here; these are: {known}")

    def _packet(self) -> tuple[int, bytes, int, str] | None:
        try:
            data, about = self._read(PACKET_LIMIT_BYTES)
        except EOFError:
            return None
        link_type = getattr(about, "linktype", None)
        if link_type is None:
            scale = 1 if self._reader.nano else 1000
            return self._reader.linktype, data, about.sec * _SECOND_NS + about.usec * scale, ""
        if about.tshigh is not None:  # a simple packet block has no time: that of the one before
            ticks = about.tshigh << 32 | about.tslow
            self._last_ns = ticks * _SECOND_NS // about.tsresol
        return link_type, data, self._last_ns, _text(getattr(about, "ifname", None))


def _text(name: bytes | str | None) -> str:
    """Return the name of an interface, as scapy gives it, as text; empty without a name."""
    return name.decode(errors="replace") if isinstance(name, bytes) else name or ""


def _open(file: str | IO[bytes]) -> tuple[Any, Callable[[int], Any]]:
    try:
        from scapy.error import Scapy_Exception
        from scapy.utils import RawPcapReader
    except ImportError:
        raise ScapyMissing from None
    name = file if isinstance(file, str) else getattr(file, "name", "the input")
    try:
        opened: Any = Path(file).open("rb") if isinstance(file, str) else file  # noqa: SIM115
    except OSError as error:
        raise CaptureError(f"cannot read {name}: {error.strerror or error}") from error
    packed = hasattr(opened, "peek") and opened.peek(2)[:2] == _GZIP  # of a pipe, too
    source: Any = GzipFile(fileobj=opened) if packed else opened
    try:
        reader: Any = RawPcapReader(source)  # it takes open files as well as names
    except (Scapy_Exception, OSError, EOFError) as error:
        source.close()
        opened.close()
        raise CaptureError(f"{name} is neither pcap nor pcapng: {error}") from error
    return reader, reader._read_packet  # its public way to read has no limit to set

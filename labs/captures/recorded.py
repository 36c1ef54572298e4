"""The captures of this folder, as the tests use them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.capture.capture_file import CaptureFile
from harness.capture.events import REQUEST, Captured, Event
from harness.capture.follow import Follower
from harness.capture.segment import SYN, TcpSegment

FOLDER = Path(__file__).parent / "files"
FILES = sorted(FOLDER.glob("*.pcap*"))
SMALL = [file for file in FILES if file.suffix == ".pcap"]


def port_of(file: Path) -> int:
    """The broker's port: the destination of the first SYN."""
    return next(s.destination.port for s in segments(file) if s.flags & SYN)


@cache
def segments(file: Path) -> tuple[TcpSegment, ...]:
    """All segments of a capture."""
    return tuple(CaptureFile(str(file)))


def follow(
    found: list[TcpSegment] | tuple[TcpSegment, ...], *ports: int
) -> tuple[list[Event], Follower]:
    """Return the events of the segments, and the follower with its totals."""
    follower = Follower(ports)
    return list(follower.events(found)), follower


def messages(events: list[Event]) -> list[Captured]:
    """Return the messages, without the notices."""
    return [event for event in events if isinstance(event, Captured)]


Told = tuple[object, ...]


def told(event: Captured) -> Told:
    """The parts of a message that do not depend on how its bytes were segmented."""
    names = (event.api.name if event.api else None, event.version, event.correlation_id)
    return (event.direction == REQUEST, *names, event.client_id, event.length, event.payload)


def by_connection(events: list[Event]) -> dict[object, tuple[list[Told], list[Told]]]:
    """Client endpoint -> its requests and its responses, in order."""
    found: dict[object, tuple[list[Told], list[Told]]] = {}
    for event in messages(events):
        pair = found.setdefault(event.connection.client, ([], []))
        pair[event.direction != REQUEST].append(told(event))
    return found

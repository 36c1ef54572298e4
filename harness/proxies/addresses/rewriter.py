"""The rewriting of advertised addresses: frames get those of the proxies in place of the nodes'."""

from __future__ import annotations

import struct
from collections import Counter
from functools import cache

from harness.codec.apis import APIS
from harness.codec.messages import RequestHeader, ResponseHeader, message_class, older_releases
from harness.codec.structs import Message
from harness.proxies.addresses.book import Address, AddressBook
from harness.proxies.addresses.generate_walk import Header, way_through
from harness.proxies.addresses.marks import edits_of, spliced
from harness.proxies.addresses.metadata_log import with_other_addresses
from harness.proxies.addresses.places import known_frames
from harness.proxies.addresses.walk import Unreadable, Way, walk
from harness.proxies.counters import Kind
from harness.proxies.direction import Direction
from harness.proxies.rewriter import Rewriter
from harness.proxies.seen import SeenConnection

_KEY_AND_VERSION = struct.Struct(">hh")


class AddressRewriter(Rewriter):
    """The rewriter that replaces the addresses in every frame by those of the book.

    A response gets the view of the link's source, a request that of its destination: these parties
    connect to the addresses. All other bytes stay as they are, except the lengths around an address
    and, in records of the metadata log, the checksum. Unknown and unreadable frames pass unchanged
    and are counted.
    """

    def __init__(self, book: AddressBook) -> None:
        self.book = book
        self.counters: Counter[str] = Counter()
        """Frames ``rewritten``, and ``addresses`` in them. What passed untouched: frames of an
        ``unknown_api`` or ``unknown_version``, ``unreadable`` ones; of the metadata log an
        ``unreadable_batch``, ``compressed_batch``, ``unknown_record``, ``unreadable_record`` and
        a ``part_of_snapshot``."""
        self._requests = known_frames(Direction.UPSTREAM)
        self._responses = known_frames(Direction.DOWNSTREAM)

    def touches(self, direction: Direction, api_key: int, version: int) -> bool:
        """True if frames of this API can hold an address; an unknown API or version is counted."""
        frames = self._requests if direction is Direction.UPSTREAM else self._responses
        known = frames.get((api_key, version))
        if known is None:
            self.counters["unknown_version" if api_key in APIS else "unknown_api"] += 1
            return False
        return known

    def request(self, payload: bytes, place: SeenConnection) -> bytes | None:
        """Return the request with the addresses for the link's destination; None: unchanged."""
        return self.request_for(payload, place.destination)

    def request_for(self, payload: bytes, view: str) -> bytes | None:
        """Return a request, also one inside another, with addresses for a view; None: unchanged."""
        if len(payload) < _KEY_AND_VERSION.size:
            return None
        key, version = _KEY_AND_VERSION.unpack_from(payload)
        if not self._requests.get((key, version)):
            return None
        return self.frame(payload, _ways_of_request(key, version), view)

    def response(self, payload: bytes, kind: Kind, place: SeenConnection) -> bytes | None:
        """Return the response with the addresses for the link's source; None: unchanged."""
        return self.frame(payload, _ways_of_response(*kind), place.source)

    def frame(self, payload: bytes, ways: tuple[Way, ...], view: str) -> bytes | None:
        """Rewrite a payload by the first way that leads through it; None: unchanged."""
        for way in ways:
            try:
                marks = walk(way, payload, 0, len(payload))
            except Unreadable:
                continue
            edits = edits_of(marks, payload, _Asked(self, view)) if marks else ()
            if not edits:
                return None
            self.counters["rewritten"] += 1
            return spliced(payload, edits)
        self.counters["unreadable"] += 1
        return None


class _Asked:
    """The replacements of marked values in frames for one view."""

    def __init__(self, rewriter: AddressRewriter, view: str) -> None:
        self.rewriter, self.book, self.view = rewriter, rewriter.book, view

    def address(self, host: str, port: int, node_id: int | None = None) -> Address | None:
        proxy = self.book.address_for(self.view, host, port, node_id)
        if proxy is not None:
            self.count("addresses")
        return proxy

    def records(self, batches: bytes) -> bytes | None:
        return with_other_addresses(batches, self)

    def request(self, payload: bytes) -> bytes | None:
        return self.rewriter.request_for(payload, self.view)

    def count(self, reason: str) -> None:
        self.rewriter.counters[reason] += 1


@cache
def _ways_of_request(api_key: int, version: int) -> tuple[Way, ...]:
    api = APIS[api_key]
    header = RequestHeader, api.request_header_version(version)
    return _ways(f"{api.name}Request", version, header)


@cache
def _ways_of_response(api_key: int, version: int) -> tuple[Way, ...]:
    api = APIS[api_key]
    header = ResponseHeader, api.response_header_version(version)
    return _ways(f"{api.name}Response", version, header)


def _ways(name: str, version: int, header: Header) -> tuple[Way, ...]:
    """Through the layout of the newest release, and through older ones of the same version."""
    classes: list[type[Message]] = [message_class(name)]
    classes += [message_class(name, release) for release in older_releases(name)]
    return tuple(
        way_through(cls, version, header) for cls in classes if version in cls.message_spec.valid
    )

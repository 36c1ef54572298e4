"""Side by side with tshark 4.0, frame by frame: the real captures, and one of every version that
it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.capture.events import REQUEST, RESPONSE, Captured
from harness.capture.segment import SocketAddress, TcpSegment
from harness.codec.apis import APIS, api_named
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.message_codec import encode
from harness.codec.messages import RequestHeader
from harness.codec.records import LegacyMessage as OldMessage
from harness.codec.records import Record, RecordBatch, encode_batch, encode_message_set
from harness.codec.structs import Message, Struct
from labs.captures.recorded import FILES, follow, messages, port_of, segments
from labs.message_values.values import rich
from tests.capture.made import BROKER, Conversation, write_pcap
from tests.capture.tshark import Dissected, dissect, installed_version
from tests.capture.tshark_versions import HIGHEST_KNOWN, MISTAKES, Mistake, mistake_at
from tests.targets.kinds import not_run

pytestmark = pytest.mark.rotates(8)

COMPARED = (4, 0)
CLIENT_PORTS_FROM = 20_000
UNKNOWN_VERSION = 99


@pytest.fixture(scope="module", autouse=True)
def tshark() -> None:
    found = installed_version()
    if found is None:
        not_run("tshark is not installed (apt-get install tshark)")
    elif found != COMPARED:
        not_run(f"tshark is {found[0]}.{found[1]}; the table is that of 4.0")


def pairs(
    file: Path, found: tuple[TcpSegment, ...], port: int
) -> Iterator[tuple[Captured, Dissected]]:
    """Our frames with tshark's; both must have the same, in the same order per direction."""
    theirs: dict[tuple[int, int], list[Dissected]] = {}
    for one in dissect(file, port):
        theirs.setdefault(one.ports, []).append(one)
    ours: dict[tuple[int, int], list[Captured]] = {}
    for event in messages(follow(found)[0]):
        ends = (event.connection.client.port, event.connection.server.port)
        ours.setdefault(ends if event.direction == REQUEST else ends[::-1], []).append(event)
    assert {k: len(v) for k, v in ours.items()} == {k: len(v) for k, v in theirs.items()}
    for key, events in ours.items():
        yield from zip(events, theirs[key], strict=True)


def difference(ours: Captured, theirs: Dissected) -> str:
    """Empty when both see the same; for versions that tshark knows."""
    assert ours.api is not None
    errors = Counter({ErrorCode[name].value: n for name, n in ours.errors.items()})
    found = []
    if theirs.malformed:
        found.append("malformed")
    if (theirs.api_key, theirs.version) != (ours.api.key, ours.version):
        found.append(f"api {theirs.api_key} v{theirs.version}")
    if theirs.topics != set(ours.topics):
        found.append(f"topics {sorted(theirs.topics)}, not {sorted(ours.topics)}")
    if theirs.errors != errors:
        found.append(f"errors {dict(theirs.errors)}, not {dict(errors)}")
    return "; ".join(found)


def compare(ours: Captured, theirs: Dissected) -> Mistake | None:
    """The header always, the rest where tshark knows the version; the mistake that was seen."""
    assert ours.api is not None
    assert ours.version is not None
    assert (theirs.correlation_id, theirs.length) == (ours.correlation_id, ours.length)
    if ours.direction == REQUEST:
        assert (theirs.api_key, theirs.version) == (ours.api.key, ours.version)
        assert theirs.client_id == ours.client_id
    if ours.version > HIGHEST_KNOWN.get(ours.api.name, -1):
        return None
    known = mistake_at(ours.api.name, ours.direction, ours.version)
    if known is None and ours.direction == RESPONSE:
        # It gives up a request in the middle, and then does not know what is answered.
        known = mistake_at(ours.api.name, REQUEST, ours.version)
    seen = difference(ours, theirs)
    if known is None:
        assert seen == "", f"{ours.api.name} v{ours.version} {ours.direction}: {seen}"
    return known if seen else None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_recorded_capture_is_decoded_as_by_tshark(file: Path) -> None:
    compared = 0
    for ours, theirs in pairs(file, segments(file), port_of(file)):
        compare(ours, theirs)
        compared += 1
    assert compared > 80


def plain(value: Message, version: int) -> Message:
    """Without unknown tags, which tshark does not expect, and with records of this version."""
    _simplify(value, _records(type(value).__name__, version))
    return value


def _simplify(value: Struct, records: bytes) -> None:
    value.unknown_tagged_fields = {}
    for field in value.spec.fields:
        own = getattr(value, field.name)
        if field.kind == "records" and own is not None:
            setattr(value, field.name, records)
        for one in own if isinstance(own, list) else [own]:
            if isinstance(one, Struct):
                _simplify(one, records)


def _records(name: str, version: int) -> bytes:
    magic_from = {"ProduceRequest": (2, 3), "FetchResponse": (2, 4)}.get(name, (0, 0))
    if version >= magic_from[1]:
        return encode_batch(RecordBatch(records=[Record(value=b"value", key=b"key")]))
    magic = int(version >= magic_from[0])
    return encode_message_set([OldMessage(value=b"value", key=b"key", magic=magic)])


@cache
def every_known_version() -> tuple[TcpSegment, ...]:
    """A request and a response of each, with no field at its default, on its own connection."""
    found: list[TcpSegment] = []
    steps = [(api_named(n), v) for n, high in HIGHEST_KNOWN.items() for v in range(high + 1)]
    for number, (api, version) in enumerate(steps):
        client = SocketAddress(BROKER.address, CLIENT_PORTS_FROM + number)
        talk = Conversation(client=client).open()
        talk.request(plain(rich(api.request, version), version), version, 7)
        talk.response(plain(rich(api.response, version), version), version, 7)
        found += talk.close().segments
    return tuple(found)


def test_versions_known_to_tshark_are_decoded_alike_but_listed_mistakes(tmp_path: Path) -> None:
    found = every_known_version()
    file = write_pcap(found, tmp_path / "known.pcap")
    seen, compared = set(), 0
    for ours, theirs in pairs(file, found, BROKER.port):
        mistake = compare(ours, theirs)
        compared += 1
        if mistake is not None:
            seen.add(mistake)
    assert compared == 2 * sum(high + 1 for high in HIGHEST_KNOWN.values())
    assert [mistake for mistake in MISTAKES if mistake not in seen] == []


def test_version_table_matches_tshark_refusals(tmp_path: Path) -> None:
    talk = Conversation().open()
    for key in APIS:
        header = RequestHeader(request_api_key=key, request_api_version=UNKNOWN_VERSION)
        talk.send(talk.client, frame(encode(header, 1)))
    said = {
        APIS[one.api_key].name: one.refused
        for one in dissect(write_pcap(talk.segments, tmp_path / "refused.pcap"), BROKER.port)
        if one.api_key is not None and one.refused
    }
    expected = {name: f"v0-{high}." if high else "v0." for name, high in HIGHEST_KNOWN.items()}
    assert {name: text.split()[-1] for name, text in said.items()} == expected

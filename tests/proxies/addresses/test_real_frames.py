"""Frames of a real Kafka, and forms of frames that the table does not show."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from harness.capture.events import REQUEST, Captured
from harness.codec.apis import APIS
from harness.codec.header import decode_request_header, encode_request
from harness.codec.messages import AddRaftVoterRequest, EnvelopeRequest, message_class
from harness.proxies.addresses import Address, AddressRewriter
from harness.proxies.direction import Direction
from harness.proxies.seen import SeenRequest
from labs.captures.recorded import FILES, follow, messages, segments
from tests.proxies.addresses.frames import (
    VIEWS,
    body_start,
    payload_of,
    proxy_of,
    rewriter,
    rewritten,
)
from tests.proxies.addresses.leaves import addresses, leaves, without_addresses

OLDER = Path(__file__).parents[2] / "codec" / "older_layouts.tsv"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_recorded_kafka_traffic_is_rewritten_in_addresses_only(file: Path) -> None:
    by, seen = rewriter(), Counter[str]()
    for one in messages(follow(segments(file))[0]):
        if one.api is not None and one.version is not None and one.message is not None:
            seen[_check(one, by)] += 1
    assert seen["with addresses"] >= 2
    assert seen["without"] > 60
    assert by.counters["rewritten"] == seen["with addresses"]
    assert set(by.counters) == {"rewritten", "addresses"}
    assert {node[0] for _, node in by.book.proxies} == {"127.0.0.1"}


def _check(one: Captured, by: AddressRewriter) -> str:
    """Compare one frame by the slow interpreter, whether it was rewritten or not."""
    assert one.api is not None
    assert one.version is not None
    assert one.message is not None
    cls, version = type(one.message), one.version
    direction = Direction.UPSTREAM if one.direction == REQUEST else Direction.DOWNSTREAM
    found = rewritten(by, direction, one.api, version, one.payload)
    start = body_start(one.payload, one.message, version)
    before = leaves(cls, version, one.payload, start)
    there = [node for node in addresses(before) if is_node(node)]
    if found is None:
        assert not there
        return "without"
    after = leaves(cls, version, found, start)
    assert without_addresses(after) == without_addresses(before)
    proxies = [proxy_of(VIEWS[direction], node) for node in there]
    assert [node for node in addresses(after) if is_node(node)] == proxies
    return "with addresses"


def is_node(address: Address) -> bool:
    return address[0] != "" and address[1] > 0


# -- forms that the table does not show ----------------------------------------------------------


@pytest.mark.parametrize("name", ["UpdateMetadataRequest"])
def test_older_layout_of_same_version_is_rewritten(name: str) -> None:
    """Kafka 3.6.0's form of version 8."""
    with OLDER.open(newline="") as file:
        (row,) = [row for row in csv.DictReader(file, delimiter="\t") if row["message"] == name]
    cls, version = message_class(name, row["release"]), int(row["version"])
    body = bytes.fromhex(row["hex"])
    header = encode_request(message_class(name)(), version, 7)
    header = header[: decode_request_header(header)[1]]
    by = rewriter()
    found = rewritten(by, Direction.UPSTREAM, APIS[6], version, header + body)
    assert found is not None
    before, after = leaves(cls, version, body), leaves(cls, version, found, len(header))
    assert without_addresses(after) == without_addresses(before)
    assert addresses(before) == [("h", 13)]
    assert addresses(after) == [proxy_of("two", ("h", 13))]


def test_older_layout_without_address_is_not_counted_as_unreadable() -> None:
    """Kafka 2.7 wrote the tags of a Fetch v12 in another form."""
    with OLDER.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        (row,) = [row for row in rows if row["message"] == "FetchResponse"]
    by = rewriter()
    payload = (7).to_bytes(4, "big") + b"\0" + bytes.fromhex(row["hex"])
    assert rewritten(by, Direction.DOWNSTREAM, APIS[1], int(row["version"]), payload) is None
    assert by.counters == {}


def test_request_inside_envelope_is_rewritten() -> None:
    listener = AddRaftVoterRequest.Listener(name="C", host="ctl", port=9093)
    inside = encode_request(AddRaftVoterRequest(cluster_id="c", listeners=[listener]), 1, 3)
    envelope = EnvelopeRequest(
        request_data=inside, request_principal=None, client_host_address=b"x"
    )
    payload = payload_of(Direction.UPSTREAM, envelope, 0)
    by = rewriter()
    found = rewritten(by, Direction.UPSTREAM, APIS[58], 0, payload)
    assert found is not None
    seen = SeenRequest(found)
    assert isinstance(seen.message, EnvelopeRequest)
    inner = SeenRequest(seen.message.request_data)
    assert isinstance(inner.message, AddRaftVoterRequest)
    host, port = proxy_of("two", ("ctl", 9093))
    assert [(one.host, one.port) for one in inner.message.listeners] == [(host, port)]
    seen.message.request_data = inside
    assert seen.message == envelope


@pytest.mark.parametrize("inside", [b"", b"\0\3", b"\0\3\0\x0c", b"\x7f\xff\0\0", bytes(12)])
def test_envelope_without_address_stays_unchanged(inside: bytes) -> None:
    by = rewriter()
    payload = payload_of(Direction.UPSTREAM, EnvelopeRequest(request_data=inside), 0)
    assert rewritten(by, Direction.UPSTREAM, APIS[58], 0, payload) is None
    assert by.counters == {}

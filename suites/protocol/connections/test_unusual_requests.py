"""CONN: what a connection does with requests that are unusual, and with what comes after them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed, ResponseTimeout
from harness.codec import encode
from harness.codec.apis import api_named
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    BeginQuorumEpochRequest,
    BrokerHeartbeatRequest,
    EndQuorumEpochRequest,
    FetchSnapshotRequest,
    VoteRequest,
)
from harness.codec.structs import Message, Request
from harness.codec.varint import encode_uvarint
from harness.conformance.checks import NotSupported, requirement
from harness.runner.marks import judges
from suites.protocol.support.answers import correlation_id_of, expect_answers
from suites.protocol.support.harmless import each_api, harmless_request, served_versions
from suites.protocol.support.healthy import expect_healthy, healthy
from suites.protocol.support.length_fields import LENGTH_FIELDS, LengthField

SEQUENCE_LENGTH = 60
ORDINARY_APIS = (
    "ApiVersions",
    "CreateTopics",
    "DeleteTopics",
    "Fetch",
    "FindCoordinator",
    "InitProducerId",
    "ListOffsets",
    "Metadata",
    "Produce",
)
SILENCE_MS = 50
REACTION_MS = 5_000
CUTS = 8  # at most this many places in a body, so that long ones do not take long
TRAILING = b"\xff\xff\xff"


@judges("CONN-009")
def test_mixed_apis_and_versions_are_served_over_one_connection(broker: BrokerUnderTest) -> None:
    """Sixty requests of all kinds, at versions drawn by chance, each answered before the next."""
    topic = broker.create_topic()
    served = {
        name: served_versions(broker, name) for name in ORDINARY_APIS if broker.advertised(name)
    }
    connection = broker.connect("CONN-009")
    with requirement("CONN-009"):
        for correlation_id in range(SEQUENCE_LENGTH):
            name = broker.random.choice(list(served))
            version = broker.random.choice(served[name])
            message = harmless_request(broker, name, version, topic)
            payload = encode_request(message, version, correlation_id, "CONN-009")
            connection.send_frame(payload)
            expect_answers(connection, [correlation_id])


NOBODY = "kc-no-such-cluster"
NO_BROKER_ID = 2**31 - 1
# Of the controllers' own; should one be served all the same, these ids make it do nothing.
CONTROLLER_REQUESTS: dict[str, Request[Message]] = {
    "Vote": VoteRequest(cluster_id=NOBODY),
    "BeginQuorumEpoch": BeginQuorumEpochRequest(cluster_id=NOBODY),
    "EndQuorumEpoch": EndQuorumEpochRequest(cluster_id=NOBODY),
    "FetchSnapshot": FetchSnapshotRequest(cluster_id=NOBODY),
    "BrokerHeartbeat": BrokerHeartbeatRequest(broker_id=NO_BROKER_ID, broker_epoch=-1),
}


@judges("CONN-015")
@pytest.mark.parametrize("unserved", CONTROLLER_REQUESTS)  # an api_name would have to be served
def test_controller_api_on_broker_listener_closes_connection(
    broker: BrokerUnderTest, unserved: str
) -> None:
    """A request of good form at each version: closed without an answer."""
    if broker.advertised(unserved):
        raise NotSupported(f"{unserved} is advertised: this listener serves it")
    api = api_named(unserved)
    for version in api.valid_versions:
        connection = broker.connect()
        with requirement("CONN-015", api_key=api.key, api_version=version):
            connection.send_frame(encode_request(CONTROLLER_REQUESTS[unserved], version, 15))
            connection.expect_closed()


# -- lengths that cannot be ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Absurd:
    """A length that nothing in the frame bears out; ``written`` where no length is that."""

    length: int
    written: bytes | None = None


def _absurd_lengths(place: LengthField, *, compact: bool) -> Iterator[Absurd]:
    """Negative ones, the largest, and one that only runs past the frame."""
    highest = 2**15 - 1 if place.kind == "string" and not compact else 2**31 - 1
    yield Absurd(highest)
    yield Absurd(20_000)
    if compact:
        yield Absurd(0, encode_uvarint(2**31))  # as a signed number this length is negative
        yield Absurd(0, encode_uvarint(2**32 - 1))
        yield Absurd(0, b"\xff" * 10)  # a number that never ends
    else:
        yield Absurd(-2)
        yield Absurd(-highest - 1)


@judges("CONN-017")
@pytest.mark.parametrize(("api_name", "field"), LENGTH_FIELDS)
def test_invalid_lengths_in_request_body_do_not_stall_broker(
    broker: BrokerUnderTest, api_name: str, field: str
) -> None:
    """The request is refused or answered, soon; a connection beside it is served as before."""
    api, place = api_named(api_name), LENGTH_FIELDS[api_name, field]
    bystander = broker.connect()
    for version in _ends(served_versions(broker, api_name, place.versions)):
        for absurd in _absurd_lengths(place, compact=place.is_compact(api_name, version)):
            payload = place.with_length(api_name, version, absurd.length, absurd.written)
            connection = broker.connect(timeout_ms=REACTION_MS)
            with requirement("CONN-017", api_key=api.key, api_version=version):
                connection.send_frame(payload)
                _expect_reaction(connection)
                expect_healthy(bystander, broker)
            connection.close()


def _ends(versions: list[int]) -> list[int]:
    """The first and the last: one of each layout where an API has both."""
    return sorted({versions[0], versions[-1]})


def _expect_reaction(connection: Connection) -> None:
    """An answer or a close; raises ResponseTimeout for neither."""
    try:
        connection.receive_frame()
    except ConnectionClosed:
        return


# -- bytes behind a body, and half a frame ---------------------------------------------------------


@judges("CONN-018")
@each_api
def test_trailing_bytes_after_body_do_not_desynchronise_next_frame(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """Both requests are answered, or the connection is closed; nothing else comes."""
    api = api_named(api_name)
    for version in _ends(served_versions(broker, api_name)):
        payload = (
            encode_request(harmless_request(broker, api_name, version), version, 181) + TRAILING
        )
        connection = broker.connect()
        with requirement("CONN-018", api_key=api.key, api_version=version):
            connection.send_frame(payload)
            connection.send_frame(encode_request(healthy(broker), 0, 182))
            found = _ids_until_closed(connection)
            assert found in ([181, 182], [181], []), f"answers with the correlation ids {found}"


def _ids_until_closed(connection: Connection) -> list[int]:
    """Return the correlation ids of the two expected responses, and of a third if it is there."""
    found: list[int] = []
    for timeout_ms in (None, None, 1):
        try:
            found.append(correlation_id_of(connection.receive_frame(timeout_ms)))
        except ConnectionClosed:
            break
        except ResponseTimeout:
            if timeout_ms is None:
                raise
    return found


@judges("CONN-020")
def test_partial_frame_gets_no_response_until_complete(broker: BrokerUnderTest) -> None:
    """Half a frame and silence: no answer, no close, others are served; the rest completes it."""
    data = frame(encode_request(healthy(broker), 0, 20, "CONN-020"))
    bystander = broker.connect()
    with requirement("CONN-020") as check:
        for half in (2, struct.calcsize(">i"), len(data) // 2, len(data) - 1):
            with check.subtest(f"after {half} bytes"):
                connection = broker.connect("CONN-020")
                connection.send_bytes(data[:half])
                connection.expect_silence(for_ms=broker.scaled_ms(SILENCE_MS))
                expect_healthy(bystander, broker)
                connection.send_bytes(data[half:])
                expect_answers(connection, [20])


@judges("CONN-016")
@each_api
def test_request_of_each_api_cut_in_body_closes_only_its_connection(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """At the first and the last version: cut behind the header, in between, and one byte early."""
    versions = served_versions(broker, api_name)
    bystander = broker.connect()
    for version in dict.fromkeys((versions[0], versions[-1])):
        request = harmless_request(broker, api_name, version)
        whole = encode_request(request, version, 1, "CONN-016")
        body_bytes = len(encode(request, version))
        step = 1 + body_bytes // CUTS
        with requirement("CONN-016", api_key=api_named(api_name).key, api_version=version):
            for cut in dict.fromkeys((*range(1, body_bytes, step), body_bytes)):
                if not body_bytes:
                    break
                connection = broker.connect()
                connection.send_frame(whole[:-cut])
                connection.expect_closed()
                connection.close()
            expect_healthy(bystander, broker)

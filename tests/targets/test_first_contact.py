"""The first contact with brokers that answer wrongly, and with listeners that are no brokers."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from harness.base.address import Address
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.messages import ApiVersionsResponse, MetadataResponse, SaslHandshakeResponse
from harness.conformance.catalogue import load_catalogue
from harness.targets import wrong_answer
from harness.targets.asking import ask_api_versions, ask_cluster
from harness.targets.errors import TargetStartError
from harness.targets.external import ExternalBroker
from harness.targets.info import probe
from harness.targets.not_answered import AnsweredWrong, NotAnswered, wrong_answer_behind
from harness.targets.ready import wait_until_ready
from tests.targets import wrong_brokers
from tests.targets.wrong_brokers import Habit, api_of, listening, of_body, with_size

API_VERSIONS, SASL_HANDSHAKE, METADATA = 18, 17, 3
TIMEOUT_MS = 500
"""Of answers that never come whole; the others come at once."""


def refused(habit: Habit) -> NotAnswered:
    with listening(habit) as address, pytest.raises(NotAnswered) as caught:
        ask_api_versions(address, TIMEOUT_MS)
    return caught.value


def with_error(code: int) -> Habit:
    return of_body(lambda body: struct.pack(">h", code) + body[2:])


def as_version(layout: int) -> Habit:
    """ApiVersions in the layout of another version than that of the request."""

    def habit(payload: bytes) -> bytes:
        keys = [ApiVersionsResponse.ApiVersion(api_key=18, min_version=0, max_version=4)]
        out = encode_response(ApiVersionsResponse(api_keys=keys), layout, 1)
        return frame(payload[4:8] + out[4:])

    return habit


def without_version_0(payload: bytes) -> bytes | None:
    return None if api_of(payload)[1] == 0 else as_version(3)(payload)


def only_refusals(payload: bytes) -> bytes:
    out = encode_response(ApiVersionsResponse(error_code=35), 0, 1)
    return frame(payload[4:8] + out[4:])


@pytest.mark.parametrize(
    ("habit", "requirement", "observed"),
    [
        (wrong_brokers.with_correlation_id(lambda _: 0), "CONN-003", "has the correlation id 0"),
        (wrong_brokers.with_correlation_id(lambda n: n + 1), "CONN-003", "correlation id 2"),
        (wrong_brokers.with_correlation_id(lambda n: -n), "CONN-003", "correlation id -1"),
        (of_body(lambda body: body[:-1]), "CONN-025", "ApiVersions v0 answer"),
        (of_body(lambda body: body + b"\0"), "CONN-025", "ApiVersions v0 answer"),
        (of_body(lambda body: b"\xff" * len(body)), "CONN-025", "ApiVersions v0 answer"),
        (of_body(lambda _: b""), "CONN-025", "ApiVersions v0 answer"),
        (as_version(1), "CONN-025", "has the layout of v1"),
        (as_version(3), "CONN-025", "has the layout of v3"),
        (of_body(lambda body: b"\0" + body), "CONN-027", "response header of version 1, not 0"),
        (with_size(lambda n: struct.pack(">i", n + 4)), "CONN-001", "its size is 26, and 22"),
        (with_size(lambda n: struct.pack(">i", n - 4)), "CONN-001", "its size is 18, and it has"),
        (with_size(lambda n: struct.pack("<i", n)), "CONN-001", "a wrong frame: its size is"),
        (with_size(lambda n: struct.pack(">i", -n)), "CONN-001", "its size is -22"),
        (with_size(lambda _: b""), "CONN-001", "no size comes before it"),
        (with_error(-1), "APIV-001", "answered with error -1"),
        (with_error(42), "APIV-001", "answered with error 42"),
        (of_body(lambda _: bytes(6)), "APIV-001", "lists no API"),
        (only_refusals, "APIV-001", "v3 is refused with UNSUPPORTED_VERSION, as v0 is"),
        (without_version_0, "APIV-002", "v3 is answered, and at v0 the connection is closed"),
    ],
)
def test_wrong_first_answer_names_requirement_and_observation(
    habit: Habit, requirement: str, observed: str
) -> None:
    problem = refused(habit)
    assert isinstance(problem, AnsweredWrong), problem
    assert problem.requirement == requirement
    assert observed in str(problem)
    assert "connection to 127.0.0.1" in problem.transcript
    assert "Start the broker" not in problem.at(Address("b", 1))


@pytest.mark.parametrize(
    ("out", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "this is an HTTP server"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "this is a TLS listener"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "this is an SSH server"),
        (b"\x00\x00\x00\x10" + bytes(range(16)), "does not answer as Kafka does"),
        (b"\x00\x00\x00\x06\x00\x00\x00\x63\x00\x00", "does not answer as Kafka does"),
        (b"+OK\r\n", "does not answer as Kafka does"),
        (b"", "no answer within 500 ms"),
        (None, "at ApiVersions v0 the broker closed the connection"),
    ],
)
def test_listener_without_kafka_answer_is_no_wrong_broker(out: bytes | None, said: str) -> None:
    problem = refused(lambda _: out)
    assert not isinstance(problem, AnsweredWrong)
    assert said in str(problem)
    assert "PLAINTEXT" in problem.at(Address("b", 1))


def test_ids_of_first_contact_are_requirements_that_are_musts() -> None:
    ids = [
        wrong_answer.SIZE,
        wrong_answer.CORRELATION_ID,
        wrong_answer.LAYOUT,
        wrong_answer.HEADER,
        wrong_answer.API_VERSIONS_HEADER,
        wrong_answer.RANGES,
        wrong_answer.OTHER_VERSION,
        wrong_answer.BROKERS,
    ]
    catalogue = load_catalogue()
    assert {catalogue.requirement(one).level for one in ids} == {"MUST"}


def test_constant_correlation_id_is_found_by_second_request() -> None:
    """The first request of a connection has the id 1, so its answer is right."""
    with listening(wrong_brokers.with_correlation_id(lambda _: 1)) as address:
        assert ask_api_versions(address, TIMEOUT_MS)
        with ExternalBroker([address]) as target, pytest.raises(TargetStartError) as caught:
            probe(target)
    wrong = wrong_answer_behind(caught.value)
    assert wrong is not None
    assert wrong.requirement == "CONN-003"


def without_brokers(payload: bytes) -> bytes:
    """Metadata without a broker; ApiVersions is right."""
    key, version = api_of(payload)
    if key == API_VERSIONS:
        return frame(wrong_brokers.right(payload))
    out = encode_response(MetadataResponse(cluster_id="x"), version, 1)
    return frame(payload[4:8] + out[4:])


@pytest.mark.parametrize(
    ("habit", "requirement"),
    [
        (wrong_brokers.with_correlation_id(lambda n: n + 1), "CONN-003"),
        (without_brokers, "META-002"),
    ],
)
def test_broker_that_is_not_ready_in_time_is_wrong_if_it_answers_wrongly(
    habit: Habit, requirement: str
) -> None:
    with listening(habit) as address, pytest.raises(TargetStartError) as caught:
        wait_until_ready(address, TIMEOUT_MS, lambda: None)
    wrong = wrong_answer_behind(caught.value)
    assert wrong is not None
    assert wrong.requirement == requirement


def test_controller_listener_is_named() -> None:
    with listening(as_version(0)) as address, pytest.raises(NotAnswered) as caught:
        ask_cluster(address, TIMEOUT_MS)
    assert "a KRaft controller answers so" in str(caught.value)
    assert wrong_answer_behind(caught.value) is None


# -- SASL ------------------------------------------------------------------------------------------


def sasl(mechanisms: list[str], error: int, others: Callable[[bytes], bytes | None]) -> Habit:
    """Answers ApiVersions and SaslHandshake, as a listener does before authentication."""

    def habit(payload: bytes) -> bytes | None:
        key, version = api_of(payload)
        if key == API_VERSIONS:
            ranges = {METADATA: (0, 13), SASL_HANDSHAKE: (0, 1), API_VERSIONS: (0, 4)}
            keys = [
                ApiVersionsResponse.ApiVersion(api_key=one, min_version=low, max_version=high)
                for one, (low, high) in ranges.items()
            ]
            out = encode_response(ApiVersionsResponse(api_keys=keys), version, 1)
        elif key == SASL_HANDSHAKE:
            response = SaslHandshakeResponse(error_code=error, mechanisms=mechanisms)
            out = encode_response(response, version, 1)
        else:
            return others(payload)
        return frame(payload[4:8] + out[4:])

    return habit


def test_listener_that_closes_before_authentication_is_named() -> None:
    habit = sasl(["PLAIN", "SCRAM-SHA-256"], 33, lambda _: None)
    with listening(habit) as address, ExternalBroker([address]) as target:
        with pytest.raises(TargetStartError) as caught:
            probe(target)
    said = str(caught.value)
    assert f"the Kafka broker at {address} cannot be asked" in said
    assert "wants SASL authentication (mechanisms: PLAIN, SCRAM-SHA-256)" in said
    assert "Give the settings of a client by external:HOST:PORT,config=FILE" in said


def test_close_at_metadata_of_listener_without_sasl_is_left_to_the_tests() -> None:
    habit = sasl([], 34, lambda _: None)
    with listening(habit) as address, ExternalBroker([address]) as target:
        assert METADATA in probe(target).api_versions

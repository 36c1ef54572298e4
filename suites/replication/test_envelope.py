"""RAFT: requests that a broker forwards to the controller in an Envelope (KIP-590)."""

from __future__ import annotations

from harness.codec.apis import api_of
from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    BrokerHeartbeatRequest,
    DefaultPrincipalData,
    ElectLeadersRequest,
    ElectLeadersResponse,
    EnvelopeRequest,
    EnvelopeResponse,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.replication.support.expect import expect_error

ADDRESS = bytes([127, 0, 0, 1])
IPV6_BYTES = 16
PRINCIPAL = version_prefixed_bytes(DefaultPrincipalData(type="User", name="ANONYMOUS"), 0)
LOWEST, HIGHEST = 0, 2
"""Versions of ElectLeaders: the header of the response has tagged fields in the highest."""
CORRELATION_IDS = (7, 2**31 - 1)
VERSION_AT, NO_VERSION = slice(2, 4), b"\x00\x63"
"""The place of the version in a request's bytes; the version 99, which no API has."""


def _election(topic: str, version: int, correlation_id: int) -> bytes:
    """Return a forwardable request with its header."""
    entry = ElectLeadersRequest.TopicPartitions(topic=topic, partitions=[0])
    request = ElectLeadersRequest(topic_partitions=[entry], timeout_ms=10_000)
    return encode_request(request, version, correlation_id)


def _forward(
    peers: JoinedCluster, data: bytes, *, address: bytes = ADDRESS, principal: bytes = PRINCIPAL
) -> EnvelopeResponse:
    envelope = EnvelopeRequest(
        request_data=data, request_principal=principal, client_host_address=address
    )
    return peers.kraft_world.controller.ask(envelope)


@judges("RAFT-017")
@needs_broker(Use.JOINABLE)
def test_envelope_returns_response_with_header_of_forwarded_version(peers: JoinedCluster) -> None:
    """An election for an unknown topic, at a version without and one with tagged fields."""
    name, api = peers.broker.unique_topic(), api_of(ElectLeadersRequest)
    with requirement("RAFT-017") as check:
        for version, sent in zip((LOWEST, HIGHEST), CORRELATION_IDS, strict=True):
            with check.subtest(f"version {version}"):
                answer = _forward(peers, _election(name, version, sent))
                expect_error(answer.error_code, ErrorCode.NONE, f"version {version}")
                assert answer.response_data is not None, "the Envelope has no response"
                received, inner = decode_response(api, version, bytes(answer.response_data))
                assert received == sent, f"the correlation id is {received}, sent was {sent}"
                assert isinstance(inner, ElectLeadersResponse)
                found = [
                    (topic.topic, each.partition_id, each.error_code)
                    for topic in inner.replica_election_results
                    for each in topic.partition_result
                ]
                wanted = [(name, 0, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))]
                assert found == wanted, f"version {version}: {found}, expected {wanted}"


@judges("RAFT-018")
@needs_broker(Use.JOINABLE)
def test_envelope_that_cannot_be_carried_out_returns_error_of_its_cause(
    peers: JoinedCluster,
) -> None:
    """An API that no broker forwards, bytes that are no request, an address that is neither IPv4
    nor IPv6, a wrong principal.
    """
    data = _election(peers.broker.unique_topic(), HIGHEST, CORRELATION_IDS[0])
    beat = encode_request(BrokerHeartbeatRequest(broker_id=peers.leader), 0, CORRELATION_IDS[0])
    unknown_version = bytearray(data)
    unknown_version[VERSION_AT] = NO_VERSION
    cases = {
        "an API that is not forwarded": (beat, ErrorCode.INVALID_REQUEST),
        "a cut header": (data[:6], ErrorCode.UNSUPPORTED_VERSION),
        "a cut body": (data[:-5], ErrorCode.UNSUPPORTED_VERSION),
        "version 99": (bytes(unknown_version), ErrorCode.UNSUPPORTED_VERSION),
    }
    with requirement("RAFT-018") as check:
        for what, (payload, code) in cases.items():
            with check.subtest(what):
                expect_error(_forward(peers, payload).error_code, code, what)
        for size in (0, 3, 5, 16):
            with check.subtest(f"an address of {size} bytes"):
                found = _forward(peers, data, address=bytes(size)).error_code
                code = ErrorCode.NONE if size == IPV6_BYTES else ErrorCode.INVALID_REQUEST
                expect_error(found, code, f"an address of {size} bytes")
        with check.subtest("a cut principal"):
            found = _forward(peers, data, principal=PRINCIPAL[:-2]).error_code
            expect_error(found, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE, "a cut principal")
        again = _forward(peers, data).error_code
        expect_error(again, ErrorCode.NONE, "a right Envelope afterwards")

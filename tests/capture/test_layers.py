"""The scapy layers: every api and version is built and taken apart, to the same bytes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.sendrecv import sniff
from scapy.sessions import TCPSession

from harness.capture.layer_fields import Undecoded
from harness.capture.layers import (
    KafkaFrame,
    KafkaRequest,
    KafkaResponse,
    bind_ports,
    dissect_request,
    dissect_response,
    request_frame,
    response_frame,
    unbind_ports,
)
from harness.codec.apis import APIS, Api, api_named
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import HeartbeatRequest, HeartbeatResponse
from labs.captures.recorded import FILES, FOLDER, follow, messages, port_of, segments
from labs.message_values.values import rich
from tests.codec.each_layout import each_of

each_api = each_of({api.name: api for api in APIS.values()})


@pytest.mark.rotates(8)
@each_api
def test_requests_of_every_version_round_trip_through_scapy(api: Api) -> None:
    for version in api.valid_versions:
        message = rich(api.request, version)
        wire = frame(encode_request(message, version, 7, "client"))
        built = request_frame(message, version, 7, "client")
        if api.request_header_version(version) == 0:
            wire = frame(encode_request(message, version, 7, None))
        assert bytes(built) == wire, version
        seen = dissect_request(wire)
        request = seen[KafkaRequest]
        assert (request.api_key, request.api_version) == (api.key, version)
        assert request.correlation_id == 7
        assert request.body == message
        assert seen.length == len(wire) - 4
        assert bytes(seen) == wire
        seen.clear_cache()
        assert bytes(seen) == wire


@pytest.mark.rotates(8)
@each_api
def test_responses_of_every_version_round_trip_through_scapy(api: Api) -> None:
    for version in api.valid_versions:
        message = rich(api.response, version)
        wire = frame(encode_response(message, version, -7))
        assert bytes(response_frame(message, version, -7)) == wire, version
        seen = dissect_response(wire, api.key, version)
        assert seen[KafkaResponse].correlation_id == -7
        assert seen[KafkaResponse].body == message
        assert bytes(seen.copy()) == wire
        seen.clear_cache()
        assert bytes(seen) == wire


def test_changed_message_is_encoded_in_rebuilt_frame() -> None:
    seen = dissect_request(bytes(request_frame(HeartbeatRequest(group_id="one"), 4, 7, "c")))
    seen[KafkaRequest].body.group_id = "another"
    seen.length = None
    expected = frame(encode_request(HeartbeatRequest(group_id="another"), 4, 7, "c"))
    assert bytes(seen) == expected


def test_header_tags_survive_rebuild() -> None:
    wire = frame(encode_request(HeartbeatRequest(), 4, 7, None, {5: b"five", 9: b""}))
    seen = dissect_request(wire)
    assert seen[KafkaRequest].header_tags == {5: b"five", 9: b""}
    seen.clear_cache()
    assert bytes(seen) == wire


def test_scapy_summary_and_show_contain_request_fields() -> None:
    built = request_frame(HeartbeatRequest(group_id="billing"), 4, 7, "c")
    assert "Kafka Heartbeat v4 request 7" in built.summary()
    shown = str(built.show(dump=True))
    assert "HeartbeatRequest(group_id='billing')" in shown
    assert "client_id" in shown


@pytest.mark.parametrize("cut", range(1, 20))
def test_truncated_request_keeps_bytes_and_reports_problem(cut: int) -> None:
    payload = encode_request(HeartbeatRequest(group_id="billing"), 4, 7, "c")[:-cut]
    wire = frame(payload)
    seen = dissect_request(wire)
    assert bytes(seen) == wire
    if KafkaRequest in seen:
        body = seen[KafkaRequest].body
        assert isinstance(body, Undecoded)
        assert "HeartbeatRequest v4" in body.problem


def test_unknown_request_is_dissected_as_raw() -> None:
    seen = KafkaFrame(frame(b"\x7f\xff" + b"no request"))
    assert isinstance(seen.payload, Raw)


def test_response_without_request_keeps_its_bytes() -> None:
    wire = frame(encode_response(HeartbeatResponse(), 4, 7))
    seen = KafkaFrame(wire, role="response")
    assert seen[KafkaResponse].correlation_id == 7
    assert isinstance(seen[KafkaResponse].body, Undecoded)
    assert bytes(seen) == wire


def test_import_of_layers_binds_no_port() -> None:
    code = (
        "import scapy.layers.inet as inet; before = list(inet.TCP.payload_guess)\n"
        "import harness.capture.layers\n"
        "assert inet.TCP.payload_guess == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_port_is_dissected_as_kafka_only_while_bound() -> None:
    wire = bytes(request_frame(HeartbeatRequest(), 4, 7, "c"))
    packet = bytes(Ether() / IP() / TCP(sport=40000, dport=1234) / Raw(wire))
    assert KafkaRequest not in Ether(packet)
    bind_ports(1234)
    try:
        assert Ether(packet)[KafkaRequest].body == HeartbeatRequest()
    finally:
        unbind_ports(1234)
    assert KafkaRequest not in Ether(packet)


def test_scapy_tcp_session_gives_same_messages_as_own_reassembly() -> None:
    """Its TCPSession, over a real capture, against our own reassembly."""
    file = FOLDER / "kafka-3.9.2-python.pcap"
    assert file in FILES
    port = port_of(file)
    ours = messages(follow(segments(file))[0])
    theirs = []
    bind_ports(port)
    try:
        for packet in sniff(offline=str(file), session=TCPSession):
            at = 1
            while (one := packet.getlayer(KafkaFrame, at)) is not None:
                theirs.append(one.payload)
                at += 1
    finally:
        unbind_ports(port)
    assert len(theirs) == len(ours)
    for seen, expected in zip(theirs, ours, strict=True):
        assert seen.correlation_id == expected.correlation_id
        assert seen.kafka_api == expected.api
        assert seen.body == expected.message


def test_request_without_version_is_built_with_newest_version() -> None:
    built = KafkaFrame() / KafkaRequest(body=HeartbeatRequest())
    newest = api_named("Heartbeat").valid_versions.highest
    assert bytes(built) == frame(encode_request(HeartbeatRequest(), newest, 0, None))

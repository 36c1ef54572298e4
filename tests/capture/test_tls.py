"""TLS in a capture: alerts are named, wrong ports are recognised, a key log decrypts."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.capture.events import REQUEST, Captured, Event, Notice
from harness.capture.follow import Follower
from harness.capture.key_log import KeyLog, read_key_log
from harness.cli import main
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
)
from labs.captures.recorded import follow, messages
from tests.capture.made import BROKER, CLIENT, Conversation, without_syn, write_pcap
from tests.capture.tls_talk import TlsTalk

V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
ALERT = bytes.fromhex("15030300020250")
CLIENT_HELLO = bytes.fromhex("16030100050100000100")
HTTP = b"HTTP/1.1 400 Bad Request\r\n\r\n"
LARGE = 30_000


def texts(events: list[Event]) -> list[str]:
    return [e.text for e in events if isinstance(e, Notice) and e.kind == "tls"]


def decrypted(talk: Conversation, keys: KeyLog) -> tuple[list[Event], Follower]:
    follower = Follower(key_log=keys)
    return list(follower.events(talk.segments)), follower


def spoken(tls: TlsTalk) -> TlsTalk:
    """A handshake, a long request and a short one, and their responses."""
    tls.shake_hands()
    request = HeartbeatRequest(group_id="g" * LARGE)
    tls.say(CLIENT, frame(encode_request(request, 3, 1, "me"))[:LARGE])
    tls.say(CLIENT, frame(encode_request(request, 3, 1, "me"))[LARGE:])
    tls.say(BROKER, frame(encode_response(HeartbeatResponse(), 3, 1)))
    tls.say(CLIENT, frame(encode_request(MetadataRequest(), 4, 2, "me")))
    tls.say(BROKER, frame(encode_response(MetadataResponse(), 4, 2)))
    return tls


# Alerts and wrong ports


def test_alert_in_answer_to_plain_request_is_named() -> None:
    talk = Conversation().open().request(MetadataRequest(), 4, 1).send(BROKER, ALERT).close()
    events, follower = follow(talk.segments)
    expected = f"TLS alert of {BROKER}: fatal internal_error (80), in answer to plain bytes"
    assert texts(events) == [f"{expected}: a TLS listener"]
    assert (follower.totals.skipped_bytes, follower.totals.unanswered) == (0, 1)
    assert [m.direction for m in messages(events)] == [REQUEST]


def test_client_hello_that_plain_listener_refuses_is_reported() -> None:
    talk = Conversation().open().send(CLIENT, CLIENT_HELLO).close()
    events, follower = follow(talk.segments)
    refused = f"{BROKER} ended the connection at the TLS of {CLIENT}, as a plain listener does"
    assert texts(events) == ["TLS: cannot be read", refused]
    assert follower.totals.encrypted_connections == 1


def test_client_hello_without_end_of_connection_is_no_refusal() -> None:
    events, _ = follow(Conversation().open().send(CLIENT, CLIENT_HELLO).segments)
    assert texts(events) == ["TLS: cannot be read"]


def test_answer_to_client_hello_that_is_no_tls_is_reported() -> None:
    talk = Conversation().open().send(CLIENT, CLIENT_HELLO).send(BROKER, HTTP).close()
    expected = f"{BROKER} answered TLS with bytes that are no TLS"
    assert texts(follow(talk.segments)[0]) == ["TLS: cannot be read", expected]


@pytest.mark.parametrize("version", [V12, V13])
def test_alert_of_client_that_refuses_certificate_is_named(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    tls = TlsTalk(tmp_path, version, trusting=False)
    with pytest.raises(ssl.SSLError):
        tls.shake_hands()
    alert = f"TLS alert of {CLIENT}: fatal unknown_ca (48)"
    assert texts(follow(tls.captured.segments)[0]) == ["TLS: cannot be read", alert]


def test_roles_of_tls_without_syn_come_from_the_hello(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path))
    events, follower = follow(without_syn(tls.captured.segments))
    assert {event.connection.server for event in events} == {BROKER}
    assert follower.totals.encrypted_connections == 1


def test_tls_from_the_middle_is_counted_and_has_no_roles(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path))
    last = [s for s in tls.captured.segments if s.payload][-2:]
    events, follower = follow(last)
    assert events == []
    assert (follower.totals.encrypted_connections, follower.totals.other_connections) == (1, 0)


# Decryption


@pytest.mark.parametrize(
    ("version", "ciphers"),
    [
        (V13, "DEFAULT"),
        (V12, "ECDHE-ECDSA-AES128-GCM-SHA256"),
        (V12, "ECDHE-ECDSA-AES256-GCM-SHA384"),
        (V12, "ECDHE-ECDSA-CHACHA20-POLY1305"),
    ],
)
def test_key_log_decrypts_whole_conversation(
    tmp_path: Path, version: ssl.TLSVersion, ciphers: str
) -> None:
    tls = spoken(TlsTalk(tmp_path, version, ciphers))
    events, follower = decrypted(tls.captured, read_key_log(tls.key_log))
    assert texts(events) == ["TLS: decrypted with the key log"]
    found = messages(events)
    assert [(m.api and m.api.name, m.correlation_id) for m in found] == [
        ("Heartbeat", 1), ("Heartbeat", 1), ("Metadata", 2), ("Metadata", 2)
    ]  # fmt: skip
    assert all(m.message is not None for m in found)
    totals = follower.totals
    assert (totals.connections, totals.encrypted_connections, totals.skipped_bytes) == (1, 0, 0)


def test_key_log_of_other_connection_decrypts_nothing(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path))
    other = KeyLog(f"CLIENT_RANDOM {'ab' * 32} {'cd' * 48}")
    events, follower = decrypted(tls.captured, other)
    reason = "the key log has no secrets of this connection"
    assert texts(events) == [f"TLS: cannot be decrypted: {reason}"]
    assert (len(events), follower.totals.encrypted_connections) == (1, 1)


def test_wrong_secret_is_reported_and_invents_nothing(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path))
    lines = tls.key_log.read_text().splitlines()
    spoiled = [f"{line[:-2]}{'00' if line[-2:] != '00' else '11'}" for line in lines]
    events, _ = decrypted(tls.captured, KeyLog("\n".join(spoiled)))
    reason = "a record does not fit the secrets of the key log"
    assert texts(events) == [f"TLS: cannot be decrypted: {reason}"]


def test_cipher_suite_that_is_not_known_is_named(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path, V12, "ECDHE-ECDSA-AES128-SHA256"))
    events, _ = decrypted(tls.captured, read_key_log(tls.key_log))
    reason = "cipher suite 0xC023 of TLS version 0x0303 is not known here"
    assert texts(events) == [f"TLS: cannot be decrypted: {reason}"]


def test_lost_packet_ends_decryption_and_keeps_what_came_before(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path))
    sent = [at for at, s in enumerate(tls.captured.segments) if s.payload and s.source == CLIENT]
    events = list(
        Follower(key_log=read_key_log(tls.key_log)).events(
            [s for at, s in enumerate(tls.captured.segments) if at != sent[-1]]
        )
    )
    found = [event for event in events if isinstance(event, Captured)]
    assert [m.api and m.api.name for m in found if m.direction == REQUEST] == ["Heartbeat"]
    assert f"TLS: cannot be decrypted: bytes of {CLIENT} were not captured" in texts(events)


def test_decrypted_connection_of_other_protocol_is_only_counted(tmp_path: Path) -> None:
    tls = TlsTalk(tmp_path)
    tls.shake_hands()
    tls.say(CLIENT, b"GET / HTTP/1.1\r\n\r\n")
    tls.say(BROKER, HTTP)
    events, follower = decrypted(tls.captured, read_key_log(tls.key_log))
    assert events == []
    assert follower.totals.other_connections == 1


# The command


def test_pcap_option_keylog_decrypts_and_refuses_other_files(tmp_path: Path) -> None:
    tls = spoken(TlsTalk(tmp_path))
    file = write_pcap(tls.captured.segments, tmp_path / "tls.pcap")
    ended = CliRunner().invoke(main, ["codec", "pcap", str(file), "--keylog", str(tls.key_log)])
    assert ended.exit_code == 0, ended.output
    assert " -> Metadata v4 request id 2 client 'me'" in ended.output
    for wrong, reason in ((file, "is no key log"), (tmp_path / "gone", "cannot read")):
        ended = CliRunner().invoke(main, ["codec", "pcap", str(file), "--keylog", str(wrong)])
        assert ended.exit_code == 1
        assert reason in ended.output

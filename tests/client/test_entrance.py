"""Connections to secured listeners: by each mechanism, and each way in which they are refused."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.client.clear_relay import ClearWays
from harness.client.connection import Connection
from harness.client.entrance import Entrance
from harness.client.errors import ConnectionClosed, EntryRefused, ResponseTimeout
from harness.codec.messages import ApiVersionsRequest
from harness.security.authority import Authority
from harness.security.doors import Door, close_door, open_door
from harness.security.secret import Secret
from harness.security.settings import (
    KeyStore,
    Mechanism,
    SaslSettings,
    SecurityProtocol,
    SecuritySettings,
    StoreType,
    TlsSettings,
    TrustStore,
)
from harness.security.token_sources import GivenToken
from labs.awaiting import await_that
from tests.client.secured_server import PASSWORD, TOKEN, USER, SecuredServer, running, tls

ALL = tuple(mechanism.value for mechanism in Mechanism)
PLAIN = SaslSettings(Mechanism.PLAIN, USER, Secret(PASSWORD))


def sasl(mechanism: Mechanism) -> SaslSettings:
    tokens = GivenToken(Secret(TOKEN)) if mechanism is Mechanism.OAUTHBEARER else None
    return SaslSettings(mechanism, USER, Secret(PASSWORD), tokens=tokens)


@contextmanager
def entered(server: SecuredServer, settings: SecuritySettings) -> Iterator[Connection]:
    """A connection by these settings to a running server."""
    door = Door(settings)
    open_door(door, [("127.0.0.1", server.port)])
    try:
        with Connection(("127.0.0.1", server.port), timeout_ms=5000) as connection:
            yield connection
    finally:
        close_door(door)


def refusal(server: SecuredServer, settings: SecuritySettings) -> EntryRefused:
    with (
        pytest.raises(EntryRefused) as caught,
        entered(server, settings) as connection,
    ):
        connection.ask(ApiVersionsRequest(), 0)
    said = f"{caught.value} {caught.value.advice}"
    assert PASSWORD not in said
    assert TOKEN not in said
    return caught.value


def with_sasl(chosen: SaslSettings) -> SecuritySettings:
    return SecuritySettings(SecurityProtocol.SASL_PLAINTEXT, sasl=chosen)


def with_tls(folder: Path, authority: Authority, **more: object) -> SecuritySettings:
    trust = TrustStore(StoreType.PEM, authority.write_pem(folder / "ca.pem"))
    return SecuritySettings(SecurityProtocol.SSL, tls=replace(TlsSettings(trust=trust), **more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_a_connection_is_entered_by_each_mechanism(mechanism: Mechanism) -> None:
    with (
        running(SecuredServer(mechanisms=ALL)) as server,
        entered(server, with_sasl(sasl(mechanism))) as connection,
    ):
        assert connection.ask(ApiVersionsRequest(), 0).error_code == 0
    assert server.authenticated == [mechanism.value]


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_a_broker_without_sasl_authenticate_gets_bare_tokens(mechanism: Mechanism) -> None:
    with (
        running(SecuredServer(mechanisms=ALL, bare=True)) as server,
        entered(server, with_sasl(sasl(mechanism))),
    ):
        assert "SaslAuthenticate" not in server.received
    assert server.authenticated == [mechanism.value]


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_wrong_credentials_are_refused_with_the_error_of_the_broker(mechanism: Mechanism) -> None:
    wrong = replace(sasl(mechanism), password=Secret("no"), tokens=GivenToken(Secret("no")))
    with running(SecuredServer(mechanisms=ALL)) as server:
        refused = refusal(server, with_sasl(wrong))
    assert str(refused) == "SASL_AUTHENTICATION_FAILED (58): invalid credentials"
    assert "password" in refused.advice
    assert not server.authenticated


def test_a_broker_that_cannot_prove_itself_is_refused() -> None:
    with running(SecuredServer(mechanisms=ALL, lies=True)) as server:
        refused = refusal(server, with_sasl(sasl(Mechanism.SCRAM_SHA_256)))
    assert "it does not know the password" in str(refused)


def test_a_mechanism_that_the_listener_lacks_is_refused_with_those_it_has() -> None:
    with running(SecuredServer(mechanisms=("SCRAM-SHA-512",))) as server:
        refused = refusal(server, with_sasl(PLAIN))
    assert "does not know PLAIN; it knows SCRAM-SHA-512" in str(refused)


def test_a_listener_without_sasl_is_named() -> None:
    with running(SecuredServer()) as server:
        refused = refusal(server, with_sasl(PLAIN))
    assert "ILLEGAL_SASL_STATE" in str(refused)
    assert "listener without SASL" in refused.advice


def test_the_versions_are_asked_for_on_the_first_connection_only() -> None:
    with running(SecuredServer(mechanisms=ALL)) as server:
        door = Door(with_sasl(PLAIN))
        open_door(door, [("127.0.0.1", server.port)])
        try:
            for _ in range(2):
                Connection(("127.0.0.1", server.port), timeout_ms=5000).close()
        finally:
            close_door(door)
    assert server.received.count("ApiVersions") == 1
    assert server.received.count("SaslHandshake") == 2


def test_a_session_is_authenticated_again_before_its_end() -> None:
    with (
        running(SecuredServer(mechanisms=ALL, lifetime_ms=200)) as server,
        entered(server, with_sasl(sasl(Mechanism.SCRAM_SHA_512))) as connection,
    ):

        def was_renewed() -> bool:
            connection.ask(ApiVersionsRequest(), 0)
            return len(server.authenticated) > 1

        await_that(was_renewed, "the session is not renewed")
        assert connection.ask(ApiVersionsRequest(), 0).error_code == 0
        assert "authenticated again" in connection.transcript.render()


def test_a_session_is_not_renewed_between_a_request_and_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Entrance, "must_renew", lambda _: True)
    with (
        running(SecuredServer(mechanisms=ALL)) as server,
        entered(server, with_sasl(PLAIN)) as connection,
    ):
        connection.send(ApiVersionsRequest(), 0)
        assert len(server.authenticated) == 2
        connection.send(ApiVersionsRequest(), 0)
        connection.receive()
        connection.receive()
        assert len(server.authenticated) == 2
        connection.ask(ApiVersionsRequest(), 0)
        assert len(server.authenticated) == 3


def test_a_session_is_not_renewed_behind_bytes_that_are_no_whole_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Entrance, "must_renew", lambda _: True)
    with (
        running(SecuredServer(mechanisms=ALL)) as server,
        entered(server, with_sasl(PLAIN)) as connection,
    ):
        connection.send_bytes(b"")
        connection.ask(ApiVersionsRequest(), 0)
        assert len(server.authenticated) == 1


def test_the_transcript_has_the_way_and_no_secret() -> None:
    with (
        running(SecuredServer(mechanisms=ALL)) as server,
        entered(server, with_sasl(PLAIN)) as connection,
    ):
        connection.ask(ApiVersionsRequest(), 0)
        shown = connection.transcript.render()
    assert "connected, SASL_PLAINTEXT by PLAIN" in shown
    assert "SaslAuthenticate" not in shown
    assert PASSWORD not in shown


def test_tls_is_entered_by_an_authority_that_is_trusted(
    tmp_path: Path, authority: Authority
) -> None:
    context = tls(authority.sign("server"), tmp_path)
    with (
        running(SecuredServer(context)) as server,
        entered(server, with_tls(tmp_path, authority)) as connection,
    ):
        assert connection.ask(ApiVersionsRequest(), 0).error_code == 0


def test_a_certificate_of_another_authority_is_refused(
    tmp_path: Path, authority: Authority
) -> None:
    context = tls(authority.sign("server"), tmp_path)
    with running(SecuredServer(context)) as server:
        refused = refusal(server, with_tls(tmp_path, Authority()))
    assert "is not trusted" in str(refused)
    assert "ssl.truststore.location" in refused.advice


def test_a_certificate_of_another_host_is_refused_unless_the_check_is_off(
    tmp_path: Path, authority: Authority
) -> None:
    context = tls(authority.sign("server", hosts=("elsewhere",)), tmp_path)
    with running(SecuredServer(context)) as server:
        refused = refusal(server, with_tls(tmp_path, authority))
        assert "is not for the host '127.0.0.1'" in str(refused)
        unchecked = with_tls(tmp_path, authority, checks_host_name=False)
        with entered(server, unchecked) as connection:
            assert connection.ask(ApiVersionsRequest(), 0).error_code == 0


def test_a_listener_that_wants_a_certificate_gets_ours(
    tmp_path: Path, authority: Authority
) -> None:
    ca = authority.write_pem(tmp_path / "clients.pem")
    context = tls(authority.sign("server"), tmp_path, clients=ca)
    own = authority.sign("client").write_pkcs12(tmp_path / "own.p12", "word")
    with running(SecuredServer(context)) as server:
        refused = refusal(server, with_tls(tmp_path, authority))
        assert "our certificate" in str(refused)
        assert "ssl.keystore.location" in refused.advice
        store = KeyStore(StoreType.PKCS12, own, password=Secret("word"))
        with entered(server, with_tls(tmp_path, authority, own=store)) as connection:
            assert connection.ask(ApiVersionsRequest(), 0).error_code == 0


def test_tls_to_a_plaintext_listener_is_named(tmp_path: Path, authority: Authority) -> None:
    with running(SecuredServer()) as server:
        refused = refusal(server, with_tls(tmp_path, authority))
    assert "does not answer as TLS does" in str(refused)
    assert "security.protocol" in refused.advice


def test_sasl_to_a_tls_listener_is_named(tmp_path: Path, authority: Authority) -> None:
    context = tls(authority.sign("server"), tmp_path)
    with running(SecuredServer(context)) as server:
        refused = refusal(server, with_sasl(PLAIN))
    assert "security.protocol" in refused.advice


def test_the_end_of_our_direction_leaves_the_answers_readable(
    tmp_path: Path, authority: Authority
) -> None:
    context = tls(authority.sign("server"), tmp_path)
    with (
        running(SecuredServer(context)) as server,
        entered(server, with_tls(tmp_path, authority)) as connection,
    ):
        connection.send(ApiVersionsRequest(), 0)
        connection.end_sending()
        connection.receive()
        connection.expect_closed()


def test_a_listener_that_is_silent_in_the_handshake_times_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        door = Door(with_tls(tmp_path, Authority()))
        address = ("127.0.0.1", silent.getsockname()[1])
        open_door(door, [address])
        try:
            with pytest.raises(ResponseTimeout, match="TLS handshake"):
                Connection(address, timeout_ms=200)
        finally:
            close_door(door)


def test_a_relay_is_a_plaintext_listener_before_a_secured_one(
    tmp_path: Path, authority: Authority
) -> None:
    context = tls(authority.sign("server"), tmp_path)
    settings = replace(
        with_tls(tmp_path, authority),
        protocol=SecurityProtocol.SASL_SSL,
        sasl=sasl(Mechanism.SCRAM_SHA_256),
    )
    with (
        running(SecuredServer(context, mechanisms=ALL)) as server,
        entered(server, settings),
        ClearWays() as ways,
    ):
        through = ways.to(("127.0.0.1", server.port))
        assert through == ways.to(("127.0.0.1", server.port))
        assert through[1] != server.port
        with Connection(through, timeout_ms=5000) as connection:
            for _ in range(3):
                assert connection.ask(ApiVersionsRequest(), 0).error_code == 0
            connection.send(ApiVersionsRequest(), 0)
            connection.end_sending()
            connection.receive()
            connection.expect_closed()


def test_a_relay_closes_a_connection_that_cannot_enter() -> None:
    wrong = replace(PLAIN, password=Secret("no"))
    with running(SecuredServer(mechanisms=ALL)) as server:
        door = Door(with_sasl(wrong))
        open_door(door, [("127.0.0.1", server.port)])
        try:
            with ClearWays() as ways, pytest.raises(ConnectionClosed):
                with Connection(ways.to(("127.0.0.1", server.port)), timeout_ms=5000) as one:
                    one.ask(ApiVersionsRequest(), 0)
        finally:
            close_door(door)


def test_an_address_without_a_door_needs_no_relay() -> None:
    with ClearWays() as ways:
        assert ways.to(("127.0.0.1", 1)) == ("127.0.0.1", 1)

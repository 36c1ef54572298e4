"""Tokens: kept while they live, obtained again behind that, and never shown."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from harness.security.errors import ExchangeFailed
from harness.security.secret import Secret
from harness.security.token_sources import (
    CommandToken,
    EndpointToken,
    UnsecuredToken,
    life_of,
)

CLIENT_SECRET = "client-SECRET"


class Endpoint(HTTPServer):
    """An authorization server."""

    answer: bytes = b""
    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/token"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append((self.headers["Authorization"], body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def endpoint(answer: object, status: int = 200) -> Iterator[Endpoint]:
    with Endpoint() as server:
        server.answer, server.status = json.dumps(answer).encode(), status
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def source(server: Endpoint) -> EndpointToken:
    return EndpointToken(server.url, "judge", Secret(CLIENT_SECRET), "kafka")


def test_an_endpoint_gets_client_credentials_once_for_the_life_of_a_token() -> None:
    with endpoint({"access_token": "t", "expires_in": 3600}) as server:
        tokens = source(server)
        assert [tokens.token(), tokens.token()] == ["t", "t"]
    pair = base64.b64encode(f"judge:{CLIENT_SECRET}".encode()).decode()
    assert server.asked == [(f"Basic {pair}", "grant_type=client_credentials&scope=kafka")]


def test_a_token_that_lives_no_more_is_obtained_again() -> None:
    with endpoint({"access_token": "t", "expires_in": 0.001}) as server:
        tokens = source(server)
        tokens.token()
        tokens.token()
        begun = time.monotonic()
        while len(server.asked) < 2 and time.monotonic() - begun < 30:
            tokens.token()
    assert len(server.asked) >= 2


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ({"error": CLIENT_SECRET}, 401, "answers 401"),
        ({"error": CLIENT_SECRET}, 200, "without an access_token"),
        ([CLIENT_SECRET], 200, "without an access_token"),
    ],
)
def test_an_endpoint_that_refuses_is_named_without_its_answer(
    answer: object, status: int, said: str
) -> None:
    with endpoint(answer, status) as server, pytest.raises(ExchangeFailed, match=said) as caught:
        source(server).token()
    assert CLIENT_SECRET not in str(caught.value)


def test_an_endpoint_that_is_not_there_is_an_error() -> None:
    with endpoint({}) as server:
        url = server.url
    with pytest.raises(ExchangeFailed, match="gives no token"):
        EndpointToken(url, "judge", Secret(CLIENT_SECRET)).token()


def test_a_command_prints_the_token_once_for_its_life(tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    program = f"open({str(counted)!r}, 'a').write('x'); print('t')"
    tokens = CommandToken([sys.executable, "-c", program])
    assert [tokens.token(), tokens.token()] == ["t", "t"]
    assert counted.read_text() == "x"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([sys.executable, "-c", "raise SystemExit('no ticket')"], "ended with 1: no ticket"),
        ([sys.executable, "-c", ""], "ended with 0: it printed nothing"),
        (["/absent/program"], "No such file"),
    ],
)
def test_a_command_without_a_token_is_an_error(words: list[str], said: str) -> None:
    with pytest.raises(ExchangeFailed, match=said):
        CommandToken(words).token()


def test_the_life_of_a_token_is_its_claim_or_a_minute() -> None:
    assert 90 < life_of(UnsecuredToken({"sub": "judge"}, 100).token()) <= 100
    assert life_of("opaque") == 60
    assert life_of("a.b.c") == 60


def test_an_unsecured_token_has_the_claims() -> None:
    header, claims, signature = UnsecuredToken({"sub": "judge"}, 100).token().split(".")
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "none"}
    found = json.loads(base64.urlsafe_b64decode(claims + "=="))
    assert found["sub"] == "judge"
    assert found["exp"] - found["iat"] == pytest.approx(100)
    assert signature == ""

"""The states of a connection to a SASL listener: each row of the table of its module."""

from __future__ import annotations

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from harness.reference_broker.authentication.sasl_session import (
    Denial,
    Reply,
    SaslRules,
    SaslSession,
    SaslState,
    Served,
)
from tests.reference_broker.authentication.exchanges import (
    PLAIN,
    PLAIN_TOKEN,
    SCRAM,
    authenticate,
    final_of,
    handshake,
    new_session,
    read,
    scram_by_token,
)

VERSIONS = encode_request(ApiVersionsRequest(), 0, 1)
METADATA = encode_request(MetadataRequest(topics=[]), 4, 1)
FIRST = "n,,n=judge,r=abc"
LIFE_MS = 4_000
FAILED = "Authentication failed: "


def opened(max_session_ms: int = 0) -> SaslSession:
    session = new_session(max_session_ms)
    session.receive(handshake(), 0)
    session.receive(authenticate(PLAIN_TOKEN), 0)
    assert session.is_open
    return session


def by_token(
    left_ms: int, longest_ms: int, *, tokens_end_sessions: bool = True
) -> tuple[SaslSession, SaslAuthenticateResponse]:
    """A session that is entered by a token, and the last answer."""
    rules = SaslRules(
        [SCRAM], lambda _: scram_by_token(left_ms), lambda *_: True, longest_ms, tokens_end_sessions
    )
    session, first = SaslSession(rules), "n,,n=token,r=abc,tokenauth=true"
    session.receive(handshake(SCRAM), 0)
    challenge = read(session.receive(authenticate(first.encode()), 0), SaslAuthenticateRequest, 2)
    assert isinstance(challenge, SaslAuthenticateResponse)
    final = final_of(first, bytes(challenge.auth_bytes)).token
    answer = read(session.receive(authenticate(final), 0), SaslAuthenticateRequest, 2)
    assert isinstance(answer, SaslAuthenticateResponse)
    return session, answer


def refused(session: SaslSession, payload: bytes, *, late: bool = False, now_ms: int = 0) -> None:
    """The connection closes without an answer."""
    step = session.receive(payload, now_ms)
    assert isinstance(step, Denial), step
    assert (step.payload, step.is_late) == (None, late)
    assert session.state is SaslState.REFUSED
    assert isinstance(session.receive(METADATA, now_ms), Denial)


@pytest.mark.parametrize(
    "payload", [METADATA, authenticate(PLAIN_TOKEN), PLAIN_TOKEN, b"", b"\x60", b"\x27\x0f" * 8]
)
def test_only_versions_and_handshake_are_accepted_first(payload: bytes) -> None:
    refused(new_session(), payload)


def test_versions_are_answered_once_before_the_handshake() -> None:
    session = new_session()
    assert session.receive(VERSIONS, 0) is Served.VERSIONS
    session.versions_answered(without_error=False)
    assert session.receive(VERSIONS, 0) is Served.VERSIONS
    session.versions_answered(without_error=True)
    assert isinstance(session.receive(handshake(), 0), Reply)
    again = new_session()
    again.receive(VERSIONS, 0)
    again.versions_answered(without_error=True)
    refused(again, VERSIONS)


@pytest.mark.parametrize("version", [0, 1])
def test_a_handshake_lists_the_mechanisms(version: int) -> None:
    session = new_session()
    step = session.receive(handshake(SCRAM, version), 0)
    expected = SaslHandshakeResponse(mechanisms=[PLAIN, SCRAM])
    assert read(step, SaslHandshakeRequest, version) == expected
    assert session.state is SaslState.EXCHANGE


def test_an_unknown_mechanism_gets_its_error_late() -> None:
    session = new_session()
    step = session.receive(handshake("FOO"), 0)
    assert isinstance(step, Denial)
    assert step.is_late
    error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
    expected = SaslHandshakeResponse(error_code=error, mechanisms=[PLAIN, SCRAM])
    assert read(step, SaslHandshakeRequest, 1) == expected
    assert session.state is SaslState.REFUSED


@pytest.mark.parametrize("version", [0, 1, 2])
def test_scram_opens_the_session_by_requests(version: int) -> None:
    session = new_session()
    session.receive(handshake(SCRAM), 0)
    step = session.receive(authenticate(FIRST.encode(), version), 0)
    challenge = read(step, SaslAuthenticateRequest, version)
    assert isinstance(challenge, SaslAuthenticateResponse)
    assert session.state is SaslState.EXCHANGE
    final = final_of(FIRST, bytes(challenge.auth_bytes))
    answer = read(
        session.receive(authenticate(final.token, version), 0), SaslAuthenticateRequest, version
    )
    assert answer == SaslAuthenticateResponse(auth_bytes=final.expected.encode())
    assert session.is_open
    assert session.user == "judge"
    assert session.receive(METADATA, 0) is Served.REQUEST


def test_plain_opens_the_session_by_a_bare_token() -> None:
    session = new_session()
    session.receive(handshake(version=0), 0)
    assert session.receive(PLAIN_TOKEN, 0) == Reply(b"")
    assert session.is_open
    for payload in (METADATA, handshake(), authenticate(PLAIN_TOKEN)):
        assert session.receive(payload, 10**9) is Served.REQUEST


def test_a_wrong_token_gets_the_error_late() -> None:
    session = new_session()
    session.receive(handshake(SCRAM), 0)
    step = session.receive(authenticate(b"n,,n=unknown,r=abc"), 0)
    assert isinstance(step, Denial)
    assert step.is_late
    said = (
        "Authentication failed during authentication due to invalid credentials with SASL "
        "mechanism SCRAM-SHA-256"
    )
    error = ErrorCode.SASL_AUTHENTICATION_FAILED
    expected = SaslAuthenticateResponse(error_code=error, error_message=said)
    assert read(step, SaslAuthenticateRequest, 2) == expected
    assert session.state is SaslState.REFUSED


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (PLAIN_TOKEN + b"x", f"{FAILED}Invalid username or password"),
        (b"\0unknown\0x", f"{FAILED}Invalid username or password"),
        (b"\0\0x", f"{FAILED}username not specified"),
        (b"\0judge\0", f"{FAILED}password not specified"),
        (b"judge\0x", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (PLAIN_TOKEN + b"\0y\0z", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (
            b"other" + PLAIN_TOKEN,
            f"{FAILED}Client requested an authorization id that is different from username",
        ),
    ],
)
def test_wrong_tokens_of_plain_get_the_reason(token: bytes, said: str) -> None:
    session = new_session()
    session.receive(handshake(), 0)
    answer = read(session.receive(authenticate(token), 0), SaslAuthenticateRequest, 2)
    assert isinstance(answer, SaslAuthenticateResponse)
    assert (answer.error_code, answer.error_message) == (58, said)
    assert not session.is_open


def test_a_wrong_bare_token_closes_without_an_answer() -> None:
    session = new_session()
    session.receive(handshake(version=0), 0)
    refused(session, PLAIN_TOKEN + b"x", late=True)


def test_another_request_in_the_exchange_gets_illegal_state() -> None:
    for payload, request, version in (
        (VERSIONS, ApiVersionsRequest, 0),
        (handshake(), SaslHandshakeRequest, 1),
    ):
        session = new_session()
        session.receive(handshake(), 0)
        answer = read(session.receive(payload, 0), request, version)
        assert isinstance(answer, (ApiVersionsResponse, SaslHandshakeResponse))
        assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert session.state is SaslState.REFUSED


def test_bytes_that_are_no_request_end_the_exchange() -> None:
    for payload in (PLAIN_TOKEN, b"", authenticate(PLAIN_TOKEN)[:-3]):
        session = new_session()
        session.receive(handshake(), 0)
        refused(session, payload)


def test_a_session_with_an_end_serves_until_then() -> None:
    session = opened(LIFE_MS)
    assert session.receive(METADATA, LIFE_MS) is Served.REQUEST
    refused(session, METADATA, now_ms=LIFE_MS + 1)


def test_the_answer_has_the_life_of_the_session() -> None:
    session = new_session(LIFE_MS)
    session.receive(handshake(), 0)
    step = session.receive(authenticate(PLAIN_TOKEN), 0)
    assert read(step, SaslAuthenticateRequest, 2) == SaslAuthenticateResponse(
        session_lifetime_ms=LIFE_MS
    )


@pytest.mark.parametrize(
    ("longest_ms", "left_ms", "life_ms"),
    [(0, 5_000, 5_000), (LIFE_MS, 5_000, LIFE_MS), (LIFE_MS, 3_000, 3_000), (0, -7, 0)],
)
def test_a_session_by_a_token_ends_with_the_token(
    longest_ms: int, left_ms: int, life_ms: int
) -> None:
    """One by an expired token ends at once."""
    session, answer = by_token(left_ms, longest_ms)
    assert answer.session_lifetime_ms == life_ms
    assert (session.user, session.by_token) == ("judge", True)
    assert session.receive(METADATA, life_ms) is Served.REQUEST
    refused(session, METADATA, now_ms=life_ms + 1)


@pytest.mark.parametrize(("longest_ms", "ends_at_ms"), [(0, None), (LIFE_MS, 3_000)])
def test_a_token_ends_no_session_before_3_3_but_one_with_an_end(
    longest_ms: int, ends_at_ms: int | None
) -> None:
    session = by_token(3_000, longest_ms, tokens_end_sessions=False)[0]
    assert session.receive(METADATA, 3_000) is Served.REQUEST
    if ends_at_ms is None:
        assert session.receive(METADATA, 99_000) is Served.REQUEST
    else:
        refused(session, METADATA, now_ms=ends_at_ms + 1)


def test_the_session_begins_again_also_behind_its_end() -> None:
    for now_ms in (10, LIFE_MS + 10):
        session = opened(LIFE_MS)
        assert isinstance(session.receive(handshake(), now_ms), Reply)
        assert not session.is_open
        assert isinstance(session.receive(authenticate(PLAIN_TOKEN), now_ms), Reply)
        assert session.receive(METADATA, now_ms + LIFE_MS) is Served.REQUEST


def test_a_second_handshake_within_a_second_is_served_as_a_request() -> None:
    session = opened(LIFE_MS)
    session.receive(handshake(), 10)
    session.receive(authenticate(PLAIN_TOKEN), 10)
    assert session.receive(handshake(), 1_009) is Served.REQUEST
    assert isinstance(session.receive(handshake(), 1_010), Reply)


def test_another_user_is_refused_when_the_session_begins_again() -> None:
    session = opened(LIFE_MS)
    session.receive(handshake(), 10)
    step = session.receive(authenticate(b"\0other\0other-word"), 10)
    answer = read(step, SaslAuthenticateRequest, 2)
    assert isinstance(answer, SaslAuthenticateResponse)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "Cannot change principals" in (answer.error_message or "")
    assert session.state is SaslState.REFUSED


def test_another_mechanism_is_refused_when_the_session_begins_again() -> None:
    session = opened(LIFE_MS)
    assert isinstance(session.receive(handshake(SCRAM), 10), Reply)
    refused(session, authenticate(FIRST.encode()), late=True)
    refused(opened(LIFE_MS), handshake("FOO"), now_ms=10)


def test_a_request_in_the_second_exchange_is_refused() -> None:
    session = opened(LIFE_MS)
    session.receive(handshake(), 10)
    assert isinstance(session.receive(METADATA, 10), Denial)
    assert session.state is SaslState.REFUSED

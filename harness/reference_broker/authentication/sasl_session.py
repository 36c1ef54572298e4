"""One connection to a SASL listener: which requests it may send, and as which user.

Theory: a connection serves nothing before its client is authenticated. SaslHandshake chooses a
mechanism; then tokens go back and forth until the mechanism is complete. They are frames of their
own after SaslHandshake v0 (KIP-43), fields of SaslAuthenticate after v1 (KIP-152). With
``connections.max.reauth.ms``, or a credential that expires, such as a delegation token, a session
has an end; the client goes through the exchange again on the same connection before, with the same
mechanism and user (KIP-368).

| state | event | next | the client gets |
|---|---|---|---|
| start | ApiVersions, answered without an error | versions_known | the answer |
| start | ApiVersions, answered with an error | start | the answer |
| start, versions_known | SaslHandshake with an enabled mechanism | exchange | the mechanisms |
| start, versions_known | SaslHandshake with another one | refused | that error (33), late |
| start, versions_known | anything else, ApiVersions again too | refused | nothing |
| exchange | a right token, and the mechanism awaits more | exchange | the broker's token |
| exchange | a right token, the last one | open | the broker's token, the session's life |
| exchange | a wrong token in SaslAuthenticate | refused | SASL_AUTHENTICATION_FAILED, late |
| exchange | a wrong token in a frame of its own | refused | nothing, late |
| exchange | another request in place of SaslAuthenticate | refused | ILLEGAL_SASL_STATE, late |
| exchange | bytes that are no request, a token that breaks the exchange | refused | nothing |
| open | a request before the session's end | open | the answer |
| open | a request behind the session's end | refused | nothing |
| open, with an end | SaslHandshake a second after the last, same mechanism | exchange | as above |
| open, with an end | the same with another enabled mechanism | other_mechanism | the mechanisms |
| open, with an end | the same with a mechanism that is not enabled | refused | nothing |
| other_mechanism | anything | refused | nothing, late |

``late``: after ``connection.failed.authentication.delay.ms``. ``refused`` closes the connection.
Source: classes SaslServerAuthenticator and KafkaChannel; seen on 2.8.2 and 4.4.0.

Not done
- An answer with ILLEGAL_SASL_STATE has the error at its top only, not in topics or partitions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from harness.codec import CodecError, decode_prefix
from harness.codec.apis import API_VERSIONS_KEY, APIS
from harness.codec.error_code import ErrorCode
from harness.codec.header import RequestRefused, decode_request_header, encode_response
from harness.codec.messages import (
    RequestHeader,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from harness.codec.structs import Message
from harness.reference_broker.authentication.errors import CredentialsRefused, ExchangeBroken

_HANDSHAKE_KEY, _AUTHENTICATE_KEY = 17, 36
_WITH_REQUESTS = 1  # the version of SaslHandshake from which tokens come in SaslAuthenticate
_AGAIN_MS = 1_000


class TokenExchange(Protocol):
    """The broker's side of one authentication by a mechanism."""

    user: str

    @property
    def by_token(self) -> bool:
        """True if the client enters by a delegation token."""

    @property
    def life_ms(self) -> int | None:
        """The time until that by which the client enters expires; None if it never does."""

    @property
    def is_complete(self) -> bool:
        """True if the client has proved that it is the user."""

    def evaluate(self, token: bytes, /) -> bytes:
        """Return the broker's next token. Raises CredentialsRefused, ExchangeBroken."""


class SaslState(StrEnum):
    """See the table of the module."""

    START = "start"
    VERSIONS_KNOWN = "versions_known"
    EXCHANGE = "exchange"
    OPEN = "open"
    OTHER_MECHANISM = "other_mechanism"
    REFUSED = "refused"


class Served(StrEnum):
    """The broker serves the request itself."""

    REQUEST = "request"
    VERSIONS = "versions"
    """ApiVersions before the authentication: ``versions_answered`` has to follow."""


class Reply(NamedTuple):
    """The connection sends this and goes on."""

    payload: bytes


class Denial(NamedTuple):
    """The connection sends ``payload``, if there is one, and closes; ``is_late``: see above."""

    reason: str
    payload: bytes | None = None
    is_late: bool = False


Step = Served | Reply | Denial


@dataclass(frozen=True, slots=True)
class SaslRules:
    """The rules of a listener.

    ``new_exchange`` begins an authentication by an enabled mechanism; ``serves`` is True for an API
    key and version that the listener advertises.
    """

    mechanisms: Sequence[str]
    new_exchange: Callable[[str], TokenExchange]
    serves: Callable[[int, int], bool]
    max_session_ms: int = 0
    credential_ends_session: bool = True
    """False: a credential that expires, such as a delegation token, ends a session only where
    ``max_session_ms`` ends each (KAFKA-13848)."""


class SaslSession:
    """The state of one connection. All times are in ms of one clock that never goes back."""

    def __init__(self, rules: SaslRules) -> None:
        self.state = SaslState.START
        self.user = ""
        self.by_token = False
        self._rules = rules
        self._mechanism = ""
        self._by_requests = self._is_again = False
        self._exchange: TokenExchange | None = None
        self._ends_at: float | None = None
        self._begun_again_at: float | None = None

    @property
    def is_open(self) -> bool:
        """True if the client is authenticated and not about to be so again."""
        return self.state is SaslState.OPEN

    def receive(self, payload: bytes, now_ms: float) -> Step:
        """Take one frame of the client, without its length."""
        step = self._received(payload, now_ms)
        if isinstance(step, Denial):
            self.state, self._exchange = SaslState.REFUSED, None
        return step

    def versions_answered(self, *, without_error: bool) -> None:
        """Note the answer to ApiVersions."""
        if without_error:
            self.state = SaslState.VERSIONS_KNOWN

    def _received(self, payload: bytes, now_ms: float) -> Step:
        if self.state is SaslState.OPEN:
            return self._while_open(payload, now_ms)
        if self.state is SaslState.EXCHANGE:
            return self._token(payload, now_ms)
        if self.state is SaslState.OTHER_MECHANISM:
            return Denial("another mechanism than before", is_late=True)
        if self.state is SaslState.REFUSED:
            return Denial("the authentication has failed")
        return self._begin(payload)

    def _begin(self, payload: bytes) -> Step:
        key = int.from_bytes(payload[:2]) if len(payload) > 1 else -1
        if key == API_VERSIONS_KEY and self.state is SaslState.START:
            return Served.VERSIONS
        header, body = self._request(payload)
        if header is None or not isinstance(body, SaslHandshakeRequest):
            return Denial(f"no SaslHandshake in the state {self.state}")
        return self._handshake(header, body.mechanism)

    def _handshake(self, header: RequestHeader, mechanism: str) -> Step:
        known = list(self._rules.mechanisms)
        if mechanism not in known:
            if self._is_again:
                return Denial("a mechanism that is not enabled")
            error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            answer = _encoded(SaslHandshakeResponse(error_code=error, mechanisms=known), header)
            return Denial("a mechanism that is not enabled", answer, is_late=True)
        reply = Reply(_encoded(SaslHandshakeResponse(mechanisms=known), header))
        if self._is_again and mechanism != self._mechanism:
            self.state = SaslState.OTHER_MECHANISM
            return reply
        self._mechanism = mechanism
        self._by_requests = header.request_api_version >= _WITH_REQUESTS
        self._exchange = self._rules.new_exchange(mechanism)
        self.state = SaslState.EXCHANGE
        return reply

    def _token(self, payload: bytes, now_ms: float) -> Step:
        if not self._by_requests:
            return self._bare_token(payload, now_ms)
        header, body = self._request(payload)
        if header is None or body is None:
            return Denial("no request in place of SaslAuthenticate")
        if not isinstance(body, SaslAuthenticateRequest):
            said = "another request than SaslAuthenticate"
            return Denial(said, _illegal_state(header), is_late=True)
        try:
            token = self._evaluated(bytes(body.auth_bytes))
        except CredentialsRefused as refused:
            return Denial(str(refused), self._failed(header, refused), is_late=True)
        except ExchangeBroken as broken:
            return Denial(str(broken))
        life_ms = self._opened(now_ms)
        answer = SaslAuthenticateResponse(auth_bytes=token, session_lifetime_ms=life_ms)
        return Reply(_encoded(answer, header))

    def _bare_token(self, payload: bytes, now_ms: float) -> Step:
        try:
            token = self._evaluated(payload)
        except CredentialsRefused as refused:
            return Denial(str(refused), is_late=True)
        except ExchangeBroken as broken:
            return Denial(str(broken))
        self._opened(now_ms)
        return Reply(token)

    def _evaluated(self, token: bytes) -> bytes:
        """Raises CredentialsRefused, ExchangeBroken."""
        assert self._exchange is not None, "the state has an exchange"
        answer = self._exchange.evaluate(token)
        user = self._exchange.user
        if self._exchange.is_complete and self._is_again and user != self.user:
            raise CredentialsRefused(
                "Cannot change principals during re-authentication from "
                f"User.{self.user}: User.{user}"
            )
        return answer

    def _opened(self, now_ms: float) -> int:
        """Return the life of the session, 0 without an end and while the exchange goes on."""
        assert self._exchange is not None, "the state has an exchange"
        if not self._exchange.is_complete:
            return 0
        ended, self._exchange = self._exchange, None
        self.user, self.by_token = ended.user, ended.by_token
        self.state = SaslState.OPEN
        life_ms = self._life_ms(ended.life_ms)
        self._ends_at = None if life_ms is None else now_ms + life_ms
        return life_ms or 0

    def _life_ms(self, of_credential_ms: int | None) -> int | None:
        """Return the life of a session that begins now; None without an end."""
        longest_ms = self._rules.max_session_ms
        lives = [longest_ms] if longest_ms > 0 else []
        if of_credential_ms is not None and (lives or self._rules.credential_ends_session):
            lives.append(max(of_credential_ms, 0))
        return min(lives, default=None)

    def _failed(self, header: RequestHeader, refused: CredentialsRefused) -> bytes:
        during = "re-authentication" if self._is_again else "authentication"
        said = refused.said or (
            f"Authentication failed during {during} due to invalid credentials with SASL "
            f"mechanism {self._mechanism}"
        )
        error = ErrorCode.SASL_AUTHENTICATION_FAILED
        return _encoded(SaslAuthenticateResponse(error_code=error, error_message=said), header)

    def _while_open(self, payload: bytes, now_ms: float) -> Step:
        if self._ends_at is None:
            return Served.REQUEST
        if payload[:2] == _HANDSHAKE_KEY.to_bytes(2) and self._may_begin_again(now_ms):
            header, body = self._request(payload)
            if header is None or not isinstance(body, SaslHandshakeRequest):
                return Denial("a SaslHandshake that cannot be read")
            self._begun_again_at, self._is_again = now_ms, True
            return self._handshake(header, body.mechanism)
        if now_ms > self._ends_at:
            return Denial("the session has ended")
        return Served.REQUEST

    def _may_begin_again(self, now_ms: float) -> bool:
        begun = self._begun_again_at
        return begun is None or now_ms - begun >= _AGAIN_MS

    def _request(self, payload: bytes) -> tuple[RequestHeader | None, Message | None]:
        """Return header and body, both None for what is no request that the listener serves.

        The body is read only where it belongs to the authentication.
        """
        try:
            header, start = decode_request_header(payload, tolerant=True)
            key, version = header.request_api_key, header.request_api_version
            if not self._rules.serves(key, version):
                return None, None
            if key not in (_HANDSHAKE_KEY, _AUTHENTICATE_KEY):
                return header, RequestHeader()
            body, _ = decode_prefix(APIS[key].request, version, payload, start, tolerant=True)
        except (CodecError, RequestRefused):
            return None, None
        return header, body


def _encoded(answer: Message, header: RequestHeader) -> bytes:
    return encode_response(answer, header.request_api_version, header.correlation_id)


def _illegal_state(header: RequestHeader) -> bytes:
    make = APIS[header.request_api_key].response
    answer = make()
    if hasattr(answer, "error_code"):
        answer.error_code = ErrorCode.ILLEGAL_SASL_STATE
    try:
        return _encoded(answer, header)
    except CodecError:  # at this version the error is in parts of the answer
        return _encoded(make(), header)

"""One broker: requests in as bytes, responses out as bytes, effects carried out between them."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from harness.codec import DecodeError, decode_prefix, encode_parts
from harness.codec.apis import API_VERSIONS_KEY, APIS, api_of
from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.codec.header import (
    RequestRefused,
    decode_request_header,
    response_header,
)
from harness.codec.messages import RequestHeader
from harness.codec.structs import Message
from harness.reference_broker.effects import Effect
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.api_18_api_versions import fallback_answer
from harness.reference_broker.handlers.outcome import (
    Advertised,
    Answer,
    ApiRange,
    CloseConnection,
    NoAnswer,
    Outcome,
    PurgatoryWait,
    RequestContext,
)
from harness.reference_broker.handlers.table import (
    CHANGES_OF_TOKENS,
    FORWARDED,
    ServedApi,
    advertised_like,
    carried_out,
    handlers_of,
    with_unstable,
)
from harness.reference_broker.initial_state import state_of
from harness.reference_broker.node_upkeep import GroupAlarmTimer, upkeep_of
from harness.reference_broker.purgatory import Purgatory, Waiter, keys_of
from harness.reference_broker.request_memory import keeps_request
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.quotas.client_quotas import ANYBODY, QuotaClient
from harness.reference_broker.state.randomness import Randomness
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER
from harness.reference_broker.wall_clock import now_ms

if TYPE_CHECKING:
    from harness.reference_broker.state.controller.registration import ControllerRole

Forward = Callable[["bytes", str, str], "asyncio.Future[bytes]"]
"""Forwards a client's request, with its host and user, to the controller; returns the response."""


class RequestRejected(Exception):
    """A request without a response: its connection must be closed. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class _Request:
    header: RequestHeader
    body_offset: int


class Response(NamedTuple):
    """A response as encoded parts.

    `parts` are the response without its length, None if the request has no response. The connection
    must send borrowed buffers before it gives the node any other work. It reads nothing more from
    the client for `mute_ms`: the throttle time of the response (KIP-219). With `closes_after_ms`
    the connection sends the response after that time and closes, for `reason`.
    """

    parts: Sequence[bytes | BorrowedBuffer] | None
    mute_ms: int = 0
    closes_after_ms: int | None = None
    reason: str = ""


class _Served(NamedTuple):
    """The APIs of a listener, as it advertises them and by API key."""

    advertised: Advertised
    by_key: Mapping[int, ApiRange]

    @classmethod
    def of(
        cls, like: EmulatedRelease, handlers: Mapping[int, ServedApi], *, unstable: bool
    ) -> "_Served":
        apis = advertised_like(like, handlers)
        if unstable:
            apis = with_unstable(apis, like)
        return cls(Advertised(apis, like.release), {one.api_key: one for one in apis})


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request that the node has carried out and not answered yet.

    `keeps_request`: the memory of the request is in use until the response is made.
    """

    waiter: Waiter
    api_version: int
    correlation_id: int
    throttle_ms: int
    keeps_request: bool = True


@dataclass(frozen=True, slots=True)
class NodeRole:
    """The role and the parts of a node in a cluster.

    `role` is that of a controller; a broker has `forward` instead. `notice` is called with each
    effect, since some effects are work for other nodes.
    """

    state: BrokerState
    handlers: Mapping[int, ServedApi]
    role: "ControllerRole | None" = None
    forward: Forward | None = None
    notice: Callable[[Effect], None] | None = None


class Node:
    """A node without its sockets: a standalone broker, or the node that `node_role` describes."""

    def __init__(
        self,
        settings: BrokerSettings,
        host: str,
        port: int,
        randomness: Randomness | None = None,
        node_role: NodeRole | None = None,
    ) -> None:
        self._randomness: Randomness = random.Random() if randomness is None else randomness
        self._node_role = node_role or NodeRole(
            state_of(settings, host, port, self._randomness), handlers_of(settings)
        )
        self.state = self._node_role.state
        self.purgatory = Purgatory(lambda: self.carry_out([]))
        self._handlers = self._node_role.handlers
        like, between = settings.like, settings.like.between_nodes
        unstable = settings.flag("unstable.api.versions.enable")
        self._for_nodes = _Served.of(between, self._handlers, unstable=unstable)
        is_one = self._node_role.role is not None or like == between
        self._for_clients = (
            self._for_nodes if is_one else _Served.of(like, self._handlers, unstable=unstable)
        )
        self._group_alarms = GroupAlarmTimer(self.state.groups, self.carry_out)
        in_cluster = node_role is not None
        self.upkeep = list(upkeep_of(self.state, settings, self.carry_out, in_cluster=in_cluster))

    def begin(
        self,
        payload: bytes,
        client_host: str = "",
        listener: str = CLIENT_LISTENER,
        user: str = ANYBODY,
        *,
        may_ask_for_tokens: bool = False,
    ) -> Response | WaitingRequest:
        """Carry out one request; return its response, or the state for `finish` if it has to wait.

        `may_ask_for_tokens`: see RequestContext. Raises RequestRejected.
        """
        request = self._read_header(payload, listener)
        if request is None:
            return self._unserved_api_versions(payload, listener)
        header = request.header
        version = header.request_api_version
        api = APIS[header.request_api_key]
        is_refused_here = api.key in CHANGES_OF_TOKENS and not may_ask_for_tokens
        if self._node_role.forward is not None and api.key in FORWARDED and not is_refused_here:
            return self._forwarded(payload, client_host, user, header)
        try:
            body, _ = decode_prefix(
                api.request, version, payload, request.body_offset, tolerant=True
            )
        except DecodeError as error:
            raise RequestRejected(str(error)) from error
        context = self._context(header, len(payload), client_host, listener, user)
        context = context._replace(may_ask_for_tokens=may_ask_for_tokens)
        begun_ns = time.perf_counter_ns()
        outcome = carried_out(self._handlers[api.key], body, context)
        self.carry_out(context.effects)
        self._group_alarms.follow()
        duration_ns = time.perf_counter_ns() - begun_ns
        client = QuotaClient(header.client_id or "", user)
        throttle_ms = self.state.client_quotas.worked(client, duration_ns, now_ms())
        return self._respond(outcome, header, throttle_ms)

    def _read_header(self, payload: bytes, listener: str) -> _Request | None:
        """Return the decoded header; None for ApiVersions at a version that is not served.

        Raises RequestRejected.
        """
        try:
            header, body_offset = decode_request_header(payload, tolerant=True)
        except RequestRefused as refused:
            if refused.header.request_api_key == API_VERSIONS_KEY:
                return None
            raise RequestRejected(str(refused)) from refused
        except DecodeError as error:
            raise RequestRejected(str(error)) from error
        advertised = self._served(listener).by_key.get(header.request_api_key)
        if advertised is None or header.request_api_version not in advertised:
            if header.request_api_key == API_VERSIONS_KEY:
                return None
            asked = f"api key {header.request_api_key} version {header.request_api_version}"
            raise RequestRejected(f"{asked} is not served")
        return _Request(header, body_offset)

    def add_users(self, scram_users: tuple[str, ...]) -> None:
        """Give a new cluster these users. Raises SettingError."""
        if scram_users:
            from harness.reference_broker.authentication.scram_users import scram_records

            self.state.change_metadata(scram_records(scram_users), now_ms())

    def serves(self, api_key: int, version: int, listener: str) -> bool:
        """True if a listener serves this version of an API."""
        return version in self._served(listener).by_key.get(api_key, ())

    def _served(self, listener: str) -> "_Served":
        return self._for_clients if listener == CLIENT_LISTENER else self._for_nodes

    def _unserved_api_versions(self, payload: bytes, listener: str) -> Response:
        """Return a response of v0 to ApiVersions at an unknown version; ignore the body."""
        try:
            header, _ = decode_request_header(payload, tolerant=True)
        except RequestRefused as refused:
            header = refused.header
        answer = fallback_answer(self._context(header, len(payload), listener=listener))
        return _response(answer, 0, header.correlation_id, 0)

    def _forwarded(
        self, payload: bytes, client_host: str, user: str, header: RequestHeader
    ) -> WaitingRequest:
        """Forward a request. The response fits the client: it has the same correlation id."""
        assert self._node_role.forward is not None
        waiter = self.purgatory.enter(
            PurgatoryWait(frozenset(), None, lambda: None, None), now_ms()
        )
        answered = self._node_role.forward(payload, client_host, user)
        answered.add_done_callback(lambda future: _settle(waiter, future))
        return WaitingRequest(waiter, header.request_api_version, header.correlation_id, 0)

    def _context(
        self,
        header: RequestHeader,
        request_bytes: int,
        client_host: str = "",
        listener: str = CLIENT_LISTENER,
        user: str = ANYBODY,
    ) -> RequestContext:
        return RequestContext(
            header.request_api_version,
            header.client_id,
            request_bytes,
            self.state,
            self._served(listener).advertised,
            now_ms,
            self._randomness,
            [],
            client_host,
            listener,
            self._node_role.role,
            user=user,
        )

    def carry_out(self, effects: list[Effect]) -> None:
        """Carry out these effects and those that follow: a woken request may leave more."""
        self.state.settle_transactions(now_ms())
        pending = [*effects, *self.state.take_effects()]
        while pending:
            for effect in pending:
                self.purgatory.wake(keys_of(effect))
                if self._node_role.notice is not None:
                    self._node_role.notice(effect)
            self.state.settle_transactions(now_ms())
            pending = self.state.take_effects()

    def _respond(
        self, outcome: Outcome, header: RequestHeader, throttle_ms: int
    ) -> Response | WaitingRequest:
        """Return the response to an outcome, or enter its wait. Raises RequestRejected."""
        version, correlation_id = header.request_api_version, header.correlation_id
        if isinstance(outcome, CloseConnection):
            raise RequestRejected(outcome.reason)
        if isinstance(outcome, NoAnswer):
            return Response(None, outcome.throttle_ms)
        if isinstance(outcome, PurgatoryWait):
            # At once: what happens from here on must not be missed.
            waiter = self.purgatory.enter(outcome, now_ms())
            keeps = keeps_request(header.request_api_key)
            return WaitingRequest(waiter, version, correlation_id, throttle_ms, keeps)
        if outcome.encoded is not None:
            if throttle_ms == 0:
                api = APIS[header.request_api_key]
                return Response([response_header(api, version, correlation_id), outcome.encoded])
            outcome = Answer(copy(outcome.message))
        return _response(outcome.message, version, correlation_id, throttle_ms)

    def finish(self, waiting: WaitingRequest) -> Response:
        """Return the response of a waiting request after its waiter has got a result."""
        message = waiting.waiter.result.result()
        if isinstance(message, bytes):
            return Response([message])
        version, correlation_id = waiting.api_version, waiting.correlation_id
        return _response(message, version, correlation_id, waiting.throttle_ms)


def _settle(waiter: Waiter, answered: "asyncio.Future[bytes]") -> None:
    if waiter.result.done():
        return
    problem = answered.exception()
    if problem is not None:
        waiter.result.set_exception(RequestRejected(f"the controller did not answer: {problem}"))
    else:
        waiter.result.set_result(answered.result())


def _response(message: Message, version: int, correlation_id: int, throttle_ms: int) -> Response:
    mute_ms = _tell_to_wait(message, throttle_ms)
    head = response_header(api_of(type(message)), version, correlation_id)
    return Response([head, *encode_parts(message, version)], mute_ms)


def _tell_to_wait(message: Message, throttle_ms: int) -> int:
    """Return the longer of two throttle times, and set it in the message if that has the field."""
    told_ms: int = getattr(message, "throttle_time_ms", 0)
    if throttle_ms > told_ms and hasattr(message, "throttle_time_ms"):
        message.throttle_time_ms = throttle_ms
    return max(told_ms, throttle_ms)

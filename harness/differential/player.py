"""Plays conversations at one broker, and keeps its answers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.client.connection import Address, Connection
from harness.client.errors import BrokerMisbehaved, ConnectionClosed, ResponseTimeout
from harness.codec.apis import api_named
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.error_code import ErrorCode
from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import ApiVersionsRequest
from harness.codec.versions import VersionRange
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.normal_form import normal_form
from harness.differential.settling import Settling
from harness.differential.symbols import Bindings
from harness.sweep.asking import error_names

HOW = "how"
PATIENCE = {"JoinGroup": 0.06, "SyncGroup": 0.06, "AlterConfigs": 0.06}
"""Share of the time for an answer: some wait for other members, and some Kafka never answers."""
ANSWER_TIMEOUT_MS, ANSWER_LIMIT_MS = 5_000, 20_000
LOADING_LIMIT_S, _PAUSE_S = 5.0, 0.05
_LOADS = ErrorCode.describe(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def answer_limit_ms(time_scale: float) -> float:
    """Return the time for an answer: short, since silence is compared too, and played again."""
    return min(ANSWER_TIMEOUT_MS * time_scale, ANSWER_LIMIT_MS)


class How(StrEnum):
    """The end of a request. NO_ANSWER: the expected end with acks 0."""

    ANSWERED = "answered"
    NO_ANSWER = "no answer is due"
    CLOSED = "the connection was closed"
    SILENT = "silence"
    UNREADABLE = "an answer that cannot be read"


@dataclass(frozen=True, slots=True)
class PlayedAnswer:
    """``meaning``: the normal form, for comparison; ``raw``: the answer in the dictionary form."""

    how: How
    meaning: Any = None
    raw: Any = None
    note: str = ""

    @property
    def compared(self) -> dict[str, Any]:
        """The end of the request, and the fields of the answer."""
        said = self.meaning if isinstance(self.meaning, dict) else {}
        return {HOW: str(self.how), **said}


class Player:
    """One broker. Use as a context manager. ``client_id``: of the conversations' requests."""

    def __init__(
        self,
        spec: str,
        address: Address,
        advertised: Mapping[int, VersionRange],
        timeout_ms: float,
        prefix: str,
        client_id: str = DEFAULT_CLIENT_ID,
    ) -> None:
        self.spec, self.address, self.advertised = spec, address, advertised
        self.timeout_ms, self.client_id = timeout_ms, client_id
        self._settling = Settling(address, advertised, timeout_ms, prefix)
        self._connection: Connection | None = None
        self._shares: Mapping[str, float] = PATIENCE

    def __enter__(self) -> Player:
        self._settling.coordinators()
        self._settling.pass_first_producer_ids()
        return self

    def __exit__(self, *_: object) -> None:
        self._hang_up()
        self._settling.delete_groups()
        self._settling.remove_quotas()
        self._settling.close()

    def play(
        self, conversation: Conversation, prefix: str, base_ms: int, *, patient: bool = False
    ) -> list[PlayedAnswer]:
        """Return one answer per step. ``patient``: :data:`PATIENCE` does not count.

        Raises ConnectionClosed when the broker cannot be reached at the beginning.
        """
        bound = Bindings(prefix, base_ms)
        answers = self.converse(conversation.steps, bound, patient=patient)
        self.clean(bound)
        return answers

    def converse(
        self, steps: Sequence[ConversationStep], bound: Bindings, *, patient: bool = False
    ) -> list[PlayedAnswer]:
        """Return one answer per step, on a connection of their own.

        What they made stays until :meth:`clean`; later steps with ``bound`` go on with it. Raises
        as :meth:`play`.
        """
        self._shares = {} if patient else PATIENCE
        self._hang_up()
        self._connect()
        answers = [self._exchange(step, bound) for step in steps]
        self._hang_up()
        return answers

    def clean(self, bound: Bindings) -> None:
        """Delete the topics of a conversation, and close its fetch sessions."""
        self._settling.delete_topics(bound.prefix)
        self._settling.close_fetch_sessions(bound.ids.get("session_id", []))

    def meet_again(self) -> None:
        """Wait until a broker that has been restarted serves what it served before."""
        self._settling.after_restart()

    def _connect(self) -> Connection:
        if self._connection is None:
            self._connection = Connection(self.address, self.client_id, timeout_ms=self.timeout_ms)
        return self._connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, step: ConversationStep, bound: Bindings) -> PlayedAnswer:
        api = api_named(step.api)
        fields = bound.filled(step.fields)
        request: Any = from_dict(api.request, step.version, fields)
        try:
            answer = self._ask_until_loaded(self._connect(), request, step.version)
        except BrokerMisbehaved as problem:
            self._hang_up()
            return PlayedAnswer(_how(problem), note=str(problem))
        if answer is None:
            return PlayedAnswer(How.NO_ANSWER)
        raw = to_dict(answer, step.version)
        with contextlib.suppress(ConnectionClosed, ResponseTimeout):
            self._settling.after(step.api, to_dict(request, step.version), raw)
        return PlayedAnswer(How.ANSWERED, normal_form(step.api, raw, bound), raw)

    def _ask_until_loaded(self, connection: Connection, request: Any, version: int) -> Any:
        """A coordinator that loads refuses all that it is asked; when it has loaded, is a race."""
        deadline = time.monotonic() + LOADING_LIMIT_S
        while True:
            answer = self._ask(connection, request, version)
            loads = answer is not None and _LOADS in set(error_names(answer))
            if not loads or time.monotonic() > deadline:
                return answer
            time.sleep(_PAUSE_S)

    def _ask(self, connection: Connection, request: Any, version: int) -> Any:
        """None where no answer is due, and the connection still answers the next request."""
        connection.send(request, version)
        if connection.awaits_answer:
            share = self._shares.get(type(request).__name__.removesuffix("Request"), 1.0)
            return connection.receive(self.timeout_ms * share)
        connection.ask(ApiVersionsRequest(), 0)
        return None


def _how(problem: BrokerMisbehaved) -> How:
    if isinstance(problem, ConnectionClosed):
        return How.CLOSED
    return How.SILENT if isinstance(problem, ResponseTimeout) else How.UNREADABLE

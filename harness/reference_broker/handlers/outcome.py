"""The outcomes of a handler, and the context of its request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from harness.base.ids import GroupId, PartitionIndex, TimeMs
from harness.codec.structs import Message
from harness.reference_broker.effects import Effect, TransactionCheck
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.quotas.client_quotas import ANYBODY, QuotaClient
from harness.reference_broker.state.randomness import Randomness
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER

if TYPE_CHECKING:
    from harness.reference_broker.state.controller.registration import ControllerRole

PartitionKey = tuple[UUID, PartitionIndex]
WakeKey = PartitionKey | GroupId | TransactionCheck
"""The key that wakes a waiting request: a partition, a group, or a coordinator's check."""
_NOT_CHECKED: Mapping[tuple[str, PartitionIndex], int] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """Send this now.

    `encoded` is the message at the request's version, for an answer that is sent repeatedly: such a
    message is never changed.
    """

    message: Message
    encoded: bytes | None = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The request asked for no response and was carried out.

    The client has to wait for `throttle_ms` as after an answer with that throttle time.
    """

    throttle_ms: int = 0


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """The only way to report an error to this client."""

    reason: str


@dataclass(frozen=True, slots=True)
class PurgatoryWait:
    """Ask `attempt` again after each change of one of `keys`; it returns None while it has to
    wait. At `deadline` send what `at_deadline` returns; both are None for a wait without end."""

    keys: frozenset[WakeKey]
    deadline: TimeMs | None
    attempt: Callable[[], Message | None]
    at_deadline: Callable[[], Message] | None


Outcome = Answer | NoAnswer | CloseConnection | PurgatoryWait


@dataclass(frozen=True, slots=True)
class ApiRange:
    """The versions of an API that are advertised, both ends included.

    Those below `served_from` are shown and never served; they are not in it.
    """

    api_key: int
    lowest: int
    highest: int
    served_from: int = 0

    def __contains__(self, version: int) -> bool:
        return max(self.lowest, self.served_from) <= version <= self.highest


@dataclass(frozen=True, slots=True, eq=False)
class Advertised:
    """The APIs that a listener serves for its whole life, and the emulated release."""

    apis: tuple[ApiRange, ...]
    like_release: str = ""


class RequestContext(NamedTuple):
    """All inputs of a handler beside the message itself.

    `request_bytes` is the size of the request without its length. `effects` collects the effects of
    the state, in order; they happen before the answer is sent. `role` is a controller's. `checked`
    has the error codes by partition of a coordinator on another broker. `user` is the name of the
    authenticated principal. `may_ask_for_tokens`: it is authenticated, and not by a delegation
    token.
    """

    api_version: int
    client_id: str | None
    request_bytes: int
    state: BrokerState
    advertised: Advertised
    now: Callable[[], TimeMs]
    randomness: Randomness
    effects: list[Effect]
    client_host: str = ""
    listener: str = CLIENT_LISTENER
    role: "ControllerRole | None" = None
    checked: Mapping[tuple[str, PartitionIndex], int] = _NOT_CHECKED
    user: str = ANYBODY
    may_ask_for_tokens: bool = False

    @property
    def client(self) -> QuotaClient:
        """The client as quotas know it."""
        return QuotaClient(self.client_id or "", self.user)

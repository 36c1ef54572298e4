"""What a handler may decide, and what it is told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from harness.codec.structs import Message
from harness.ids import PartitionIndex, TimeMs
from harness.reference_broker.effects import Effect
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.randomness import Randomness

PartitionKey = tuple[UUID, PartitionIndex]


@dataclass(frozen=True, slots=True)
class Answer:
    """Send this now."""

    message: Message


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The request asked for no response and was carried out."""


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """The only way to tell this client that something is wrong."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask `attempt` again after each change of one of `keys`; it returns None while it has to
    wait. At `deadline` send what `at_deadline` returns."""

    keys: frozenset[PartitionKey]
    deadline: TimeMs
    attempt: Callable[[], Message | None]
    at_deadline: Callable[[], Message]


Outcome = Answer | NoAnswer | CloseConnection | Wait


@dataclass(frozen=True, slots=True)
class ApiRange:
    """The versions of an API that are advertised, both ends included."""

    api_key: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class RequestContext:
    """All that a handler knows beside the message itself.

    `effects` takes what the state wants done, in order; it is done before the answer is sent.
    """

    api_version: int
    client_id: str | None
    state: BrokerState
    advertised: Sequence[ApiRange]
    now: Callable[[], TimeMs]
    randomness: Randomness
    effects: list[Effect] = field(default_factory=list)

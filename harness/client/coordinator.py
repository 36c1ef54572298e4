"""The coordinator of a group, as the broker under test reports it.

In a cluster tests of one broker get names that this broker coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest, FindCoordinatorResponse

if TYPE_CHECKING:
    from harness.client.broker import BrokerUnderTest

GROUP: Final = 0
TRANSACTION: Final = 1
"""Key types of FindCoordinator."""
FIRST_WITH_MANY_KEYS = 4  # of FindCoordinator (KIP-699)
MOST_NAMES = 1_000


class Coordinator(NamedTuple):
    """The answer of FindCoordinator for one key; the node is -1 beside an error."""

    error_code: int
    node: int
    host: str = ""
    port: int = -1


def ask_for_coordinator(
    client: BrokerUnderTest, key: str, key_type: int = GROUP, version: int | None = None
) -> Coordinator:
    """Find a coordinator, at the highest version by default.

    Raises ApiNotAdvertised where there is no version for this type.
    """
    if version is None:
        version = client.version("FindCoordinator", "0+" if key_type == GROUP else "1+")
    found: FindCoordinatorResponse | FindCoordinatorResponse.Coordinator
    if version >= FIRST_WITH_MANY_KEYS:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        found = only(client.ask(request, version).coordinators, "coordinator")
    else:
        found = client.ask(FindCoordinatorRequest(key_type=key_type, key=key), version)
    return Coordinator(found.error_code, found.node_id, found.host, found.port)


def await_coordinator(
    client: BrokerUnderTest, key_type: int = GROUP, key: str | None = None
) -> int:
    """Wait for the coordinator of the key (of a new key by default) and return its node.

    The topic of the coordinator is made when it is first needed. Raises ResponseTimeout when there
    is none in time.
    """
    key = client.unique_topic() if key is None else key
    found = client.eventually(
        lambda: _named(ask_for_coordinator(client, key, key_type)),
        f"there is a coordinator for key type {key_type}",
    )
    return found.node


def _named(found: Coordinator) -> Coordinator | None:
    return found if found.error_code == ErrorCode.NONE else None


def coordinated_name(client: BrokerUnderTest, key_type: int = GROUP) -> str:
    """Return a unique name; in a cluster, one that this broker coordinates.

    Raises PreparationFailed when the broker coordinates none of many.
    """
    if client.node is None:
        return client.unique_topic()
    for _ in range(MOST_NAMES):
        name = client.unique_topic()
        if await_coordinator(client, key_type, name) == client.node:
            return name
    raise PreparationFailed(f"broker {client.node} coordinates none of {MOST_NAMES} names")

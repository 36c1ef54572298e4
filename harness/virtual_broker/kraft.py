"""A virtual broker of a KRaft cluster: registration, heartbeats, fencing, controlled shutdown.

KIP-631; classes BrokerLifecycleManager (which this replaces), ClusterControlManager and
BrokerHeartbeatManager. The metadata log is never read: a heartbeat only claims an offset of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID, uuid4

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved, PreparationFailed
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from harness.codec.structs import Message, Request
from harness.virtual_broker.assigned_topics import create_assigned, state_shown
from harness.virtual_broker.membership import NO_BROKER_EPOCH, Membership, PartitionState
from harness.virtual_broker.peer_endpoint import Address, KraftEndpoint

M = TypeVar("M", bound=Message)
Feature = BrokerRegistrationRequest.Feature
NOBODY_LISTENS: Address = ("127.0.0.1", 9)
"""The registered address of a follower: leaders never connect to their followers."""
CLIENT_SOFTWARE = "kafka-conformance"
FIRST_WITH_LOG_DIRS, FIRST_WITH_MINIMUM_0 = 2, 4
PLAINTEXT = 0
CAUGHT_UP = 1 << 62
"""A position in the metadata log beyond every end.

Up to 3.2 a broker is caught up at the log's end, later at its registration.
"""


class Controller:
    """A connection to the controller, at the highest versions that it and the codec know."""

    def __init__(self, client: KraftEndpoint, broker: BrokerUnderTest) -> None:
        """Connect immediately, through ``broker``; its transcripts contain the exchange."""
        self.client, self.broker = client, broker
        self._connection = broker.connect(through=client.controller)
        self._told = self._ask_versions()
        self._ranges = {each.api_key: each for each in self._told.api_keys}

    def _ask_versions(self) -> ApiVersionsResponse:
        """Return the response of the highest version: later ones list more features."""
        api = api_named("ApiVersions")
        first = self._connection.ask(ApiVersionsRequest(), 0, tolerant=True)
        told = [each.max_version for each in first.api_keys if each.api_key == api.key]
        version = min([*told, api.valid_versions.highest])
        request = ApiVersionsRequest(
            client_software_name=CLIENT_SOFTWARE, client_software_version="1"
        )
        return self._connection.ask(request, version, tolerant=True)

    def version(self, api_name: str) -> int:
        """Return the highest version that both know. Raises PreparationFailed."""
        api = api_named(api_name)
        told = self._ranges.get(api.key)
        highest = min(told.max_version, api.valid_versions.highest) if told else -1
        if told is None or highest < told.min_version:
            raise PreparationFailed(f"the controller serves no {api_name} that we know")
        return highest

    @property
    def advertised(self) -> set[int]:
        """The keys of all APIs that the controller's listener advertises."""
        return set(self._ranges)

    def features(self, registration_version: int) -> list[Feature]:
        """Return the controller's supported features, for a broker that registers with the same."""
        return [
            Feature(
                name=one.name,
                min_supported_version=one.min_version,
                max_supported_version=one.max_version,
            )
            for one in self._told.supported_features
            if one.min_version > 0 or registration_version >= FIRST_WITH_MINIMUM_0
        ]

    def ask(self, message: Request[M], version: int | None = None) -> M:
        """Send a request on the connection; replace a broken one. Raises BrokerMisbehaved."""
        try:
            return self._connection.ask(message, self._version_of(message, version))
        except BrokerMisbehaved:
            self._connection.close()
            self._connection = self.broker.connect(through=self.client.controller)
            raise

    def connect(self) -> Connection:
        """Return another connection, for a request at the same time."""
        return self.broker.connect(through=self.client.controller)

    def _version_of(self, message: Message, version: int | None) -> int:
        name = type(message).__name__.removesuffix("Request")
        return self.version(name) if version is None else version

    def close(self) -> None:
        """Close the connection. Twice is fine."""
        self._connection.close()


@dataclass(slots=True)
class KraftMember:
    """A virtual broker of a KRaft cluster; ``broker_epoch`` is that of its last registration."""

    controller: Controller
    broker_id: int
    incarnation_id: UUID
    listens_at: Address = NOBODY_LISTENS
    log_dirs: list[UUID] = field(default_factory=list)
    broker_epoch: int = NO_BROKER_EPOCH
    rack: str | None = None

    def registration(self) -> BrokerRegistrationRequest:
        """Return the request of a broker of this cluster; tests change a field of it."""
        client, version = self.controller.client, self.controller.version("BrokerRegistration")
        host, port = self.listens_at
        return BrokerRegistrationRequest(
            broker_id=self.broker_id,
            cluster_id=client.cluster_id,
            incarnation_id=self.incarnation_id,
            listeners=[
                BrokerRegistrationRequest.Listener(
                    name=name, host=host, port=port, security_protocol=PLAINTEXT
                )
                for name in client.listeners
            ],
            features=self.controller.features(version),
            rack=self.rack,
            log_dirs=self.log_dirs if version >= FIRST_WITH_LOG_DIRS else [],
        )

    def ask_to_register(
        self, request: BrokerRegistrationRequest | None = None
    ) -> BrokerRegistrationResponse:
        """Send a registration and return any response; a successful one sets the broker epoch."""
        answer = self.controller.ask(request or self.registration())
        if answer.error_code == ErrorCode.NONE:
            self.broker_epoch = answer.broker_epoch
        return answer

    def register(self) -> None:
        """Register; the broker is fenced then. Raises PreparationFailed."""
        code = self.ask_to_register().error_code
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"BrokerRegistration: {ErrorCode.describe(code)}", code)

    def heartbeat(
        self,
        *,
        want_fence: bool = False,
        want_shut_down: bool = False,
        broker_epoch: int | None = None,
        metadata_offset: int = CAUGHT_UP,
    ) -> BrokerHeartbeatResponse:
        """Send one heartbeat and return its response; by default it claims to be caught up."""
        epoch = self.broker_epoch if broker_epoch is None else broker_epoch
        request = BrokerHeartbeatRequest(
            broker_id=self.broker_id,
            broker_epoch=epoch,
            current_metadata_offset=metadata_offset,
            want_fence=want_fence,
            want_shut_down=want_shut_down,
        )
        return self.controller.ask(request)

    def leave(self) -> None:
        """Ask to be fenced: the controller removes the broker from all ISRs before it responds."""
        answer = self.heartbeat(want_fence=True)
        if answer.error_code != ErrorCode.NONE or not answer.is_fenced:
            told = f"{ErrorCode.describe(answer.error_code)}, fenced: {answer.is_fenced}"
            raise PreparationFailed(f"a heartbeat that wants to be fenced: {told}")

    def come_back(self) -> None:
        """Send a heartbeat that unfences the broker."""
        answer = self.heartbeat()
        if answer.error_code != ErrorCode.NONE or answer.is_fenced:
            told = f"{ErrorCode.describe(answer.error_code)}, fenced: {answer.is_fenced}"
            raise PreparationFailed(f"a heartbeat that wants to be unfenced: {told}")

    def shut_down(self) -> None:
        """Ask for a shutdown until the controller allows it; it moves leaderships meanwhile."""
        self.controller.broker.eventually(
            lambda: self.heartbeat(want_shut_down=True).should_shut_down, "it may shut down"
        )

    def move(self, listens_at: Address) -> None:
        """Register another incarnation, refused until the session of this one has ended."""
        self.listens_at, self.incarnation_id = listens_at, uuid4()
        code = self.controller.broker.last_seen(
            lambda: self.ask_to_register().error_code,
            lambda code: code != ErrorCode.DUPLICATE_BROKER_REGISTRATION,
        )
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"BrokerRegistration: {ErrorCode.describe(code)}", code)
        self.come_back()

    def close(self) -> None:
        """Try to be fenced; ignore a failure."""
        if self.broker_epoch != NO_BROKER_EPOCH:
            with suppress(BrokerMisbehaved):
                self.heartbeat(want_fence=True)


class KraftWorld:
    """A KRaft cluster, through its controller and one of its brokers."""

    def __init__(self, client: KraftEndpoint, broker: BrokerUnderTest) -> None:
        self.controller = Controller(client, broker)
        self._broker = broker

    def member(self, broker_id: int, listens_at: Address = NOBODY_LISTENS) -> KraftMember:
        """Return a broker that has sent no request yet."""
        directory, incarnation = uuid4(), uuid4()  # no two brokers ever have the same
        return KraftMember(self.controller, broker_id, incarnation, listens_at, [directory])

    def join(
        self, broker_id: int, listens_at: Address = NOBODY_LISTENS, rack: str | None = None
    ) -> Membership:
        """Return a broker that is registered, unfenced, and listed in Metadata."""
        made = self.member(broker_id, listens_at)
        made.rack = rack
        made.register()
        made.come_back()
        self.await_shown(broker_id)
        return made

    def await_shown(self, broker_id: int) -> None:
        """Wait until Metadata lists it as alive. Raises ResponseTimeout."""
        self._broker.eventually(
            lambda: broker_id in {one.node_id for one in self._broker.metadata([]).brokers},
            f"Metadata lists the broker {broker_id}",
        )

    def create_topic(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """Create a topic by CreateTopics; it is deleted at the end of the test."""
        create_assigned(self._broker, name, assignment, configs)
        self._broker.delete_later(name)

    def state(self, name: str, partition: int) -> PartitionState:
        """Return the state by Metadata, which follows the controller's log."""
        return state_shown(self._broker, name, partition)

    def close(self) -> None:
        self.controller.close()

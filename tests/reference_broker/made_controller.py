"""A controller with several brokers, as plain state: no sockets, no clock."""

import random
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from harness.base.ids import BrokerId, LeaderEpoch, TimeMs
from harness.codec import messages
from harness.codec.structs import Message
from harness.reference_broker.handlers.api_18_api_versions import finalized_levels, supported_ranges
from harness.reference_broker.initial_state import controller_state
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.controller.circumstances import ELIGIBLE_LEADERS
from harness.reference_broker.state.controller.registration import ControllerRole
from harness.reference_broker.state.controller.sessions import BrokerSessions
from harness.reference_broker.state.metadata.metadata_log import MetadataLog
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import (
    CLIENT_LISTENER,
    BrokerRegistration,
    Endpoint,
)
from harness.reference_broker.state.registrations.metadata_records import topic_records
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
    ids_of,
)
from harness.reference_broker.state.topics.topic import TopicState

NOW, SESSION_MS = TimeMs(1_000_000), 9_000
CLUSTER_ID, TOPIC_ID = "made-of-plain-state-00", UUID(int=77)
CHANCE = random.Random(0)
_M = TypeVar("_M", bound=Message)


def broker(number: int, **changes: Any) -> BrokerRegistration:
    """A registered broker with an epoch that is ten times its number."""
    given: dict[str, Any] = {
        "broker_id": BrokerId(number),
        "epoch": 10 * number,
        "incarnation_id": UUID(int=number),
        "listeners": {CLIENT_LISTENER: Endpoint("localhost", 9000 + number)},
        "is_fenced": False,
        "directories": (UUID(int=1_000 + number),),
    }
    return BrokerRegistration(**{**given, **changes})


def registered(
    replicas: Sequence[int], isr: Sequence[int], leader: int | None = None, **changes: Any
) -> PartitionRegistration:
    """A partition that the first in sync leads by default; epochs 5 and 7."""
    first = isr[0] if isr else -1
    given: dict[str, Any] = {
        "leader_epoch": LeaderEpoch(5),
        "partition_epoch": 7,
        "directories": tuple(UUID(int=1_000 + each) for each in replicas),
    }
    tuples = {
        key: ids_of(value) if key in ("elr", "last_known_elr", "removing", "adding") else value
        for key, value in changes.items()
    }
    return PartitionRegistration(
        ids_of(replicas),
        ids_of(isr),
        BrokerId(first if leader is None else leader),
        **{**given, **tuples},
    )


class MadeController:
    """A controller that knows these brokers, and a topic of one partition."""

    def __init__(self, brokers: Iterable[BrokerRegistration], *, keeps_eligible: bool = True):
        settings = BrokerSettings.of({"node.id": "100"})
        self.state: BrokerState = controller_state(settings, Endpoint("c", 1), CLUSTER_ID)
        self.state.features |= finalized_levels(settings.like)
        self.state.features[ELIGIBLE_LEADERS] = int(keeps_eligible)
        log = MetadataLog(self.state, NOW)
        self.role = ControllerRole(CLUSTER_ID, BrokerSessions(SESSION_MS), log)
        self.state.write_metadata = log.append
        for each in brokers:
            self.state.brokers.put(each)

    def with_partition(self, registration: PartitionRegistration, **configs: str) -> Partition:
        """The topic's only partition as it is registered; config names have "_" for "."."""
        given = {key.replace("_", "."): value for key, value in configs.items()}
        records = topic_records("t", TOPIC_ID, given, [registration])
        self.state.change_metadata(records, NOW)
        return self.topic.partitions[0]

    @property
    def topic(self) -> TopicState:
        """The only topic."""
        topic = self.state.cluster.with_id(TOPIC_ID)
        assert topic is not None
        return topic

    @property
    def partition(self) -> PartitionRegistration:
        """The only partition, as it is now."""
        return self.topic.partitions[0].registration

    def carry_out(self, records: Sequence[Message]) -> None:
        """Apply the records of a decision."""
        self.state.change_metadata(records, NOW)


def only(kind: type[_M], records: Iterable[Message]) -> _M:
    """The only record of a kind."""
    (found,) = (one for one in records if isinstance(one, kind))
    return found


def registration_of(number: int, **changes: Any) -> messages.BrokerRegistrationRequest:
    """The registration request of a new incarnation."""
    request = messages.BrokerRegistrationRequest
    given: dict[str, Any] = {
        "broker_id": number,
        "cluster_id": CLUSTER_ID,
        "incarnation_id": UUID(int=500 + number),
        "listeners": [request.Listener(name=CLIENT_LISTENER, host="localhost", port=9000)],
        "features": [
            request.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in supported_ranges("").items()
        ],
        "log_dirs": [UUID(int=1_000 + number)],
        "previous_broker_epoch": -1,
    }
    return request(**{**given, **changes})

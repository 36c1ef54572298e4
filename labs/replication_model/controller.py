"""The controller as plain state: the handlers of its APIs, called without a listener."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from harness.base.ids import BrokerId, TimeMs
from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import Effect
from harness.reference_broker.handlers import (
    api_43_elect_leaders,
    api_45_alter_partition_reassignments,
    api_56_alter_partition,
    api_62_broker_registration,
    api_63_broker_heartbeat,
)
from harness.reference_broker.handlers.api_18_api_versions import finalized_levels
from harness.reference_broker.handlers.outcome import Advertised, Answer, RequestContext
from harness.reference_broker.initial_state import controller_state
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.controller.broker_states import BrokerEvent
from harness.reference_broker.state.controller.circumstances import ELIGIBLE_LEADERS
from harness.reference_broker.state.controller.elections import preferred_leaders, unclean_leaders
from harness.reference_broker.state.controller.fencing import fenced
from harness.reference_broker.state.controller.registration import ControllerRole
from harness.reference_broker.state.controller.sessions import BrokerSessions
from harness.reference_broker.state.metadata.metadata_log import MetadataLog
from harness.reference_broker.state.registrations.brokers import (
    UNFENCE,
    BrokerRegistration,
    Endpoint,
)
from harness.reference_broker.state.registrations.metadata_records import topic_records
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)

if TYPE_CHECKING:
    from harness.codec.structs import Message

CLUSTER_ID = "replication-model-0000"
TOPIC, TOPIC_ID = "t", UUID(int=7)
SESSION_MS = 1_000
_SETTINGS = BrokerSettings.of({"node.id": "100"})
_CHANCE = random.Random(0)
_PREFERRED, _UNCLEAN = 0, 1
_HANDLERS: dict[type[Any], tuple[Any, int]] = {
    messages.BrokerRegistrationRequest: (api_62_broker_registration.handle, 4),
    messages.BrokerHeartbeatRequest: (api_63_broker_heartbeat.handle, 2),
    messages.AlterPartitionRequest: (api_56_alter_partition.handle, 3),
    messages.AlterPartitionReassignmentsRequest: (api_45_alter_partition_reassignments.handle, 1),
    messages.ElectLeadersRequest: (api_43_elect_leaders.handle, 2),
}


class WrittenRecord(NamedTuple):
    """One batch: the offset behind it, its records, and the brokers active before it or now."""

    end: int
    records: Sequence[Message]
    active: frozenset[BrokerId]


class ModelController:
    """Decides, and keeps its decisions in `written`, which brokers read on command."""

    def __init__(self, now: TimeMs, *, keeps_eligible: bool) -> None:
        self.state = controller_state(_SETTINGS, Endpoint("localhost", 1), CLUSTER_ID)
        self.written: list[WrittenRecord] = []
        self._log = MetadataLog(self.state, now)
        self.state.write_metadata = self._write
        self._role = ControllerRole(CLUSTER_ID, BrokerSessions(SESSION_MS), self._log)
        levels = finalized_levels(_SETTINGS.like) | {ELIGIBLE_LEADERS: int(keeps_eligible)}
        feature = messages.FeatureLevelRecord
        records = [feature(name=name, feature_level=level) for name, level in levels.items()]
        self.state.change_metadata(records, now)

    def _write(self, records: Sequence[Message], now: TimeMs) -> list[Effect]:
        effects = self._log.append(records, now)
        if records:
            active = {one.broker_id for one in self.state.brokers.all() if _is_active(one)}
            active |= {
                BrokerId(one.broker_id)
                for one in records
                if isinstance(one, messages.BrokerRegistrationChangeRecord)
                and one.fenced == UNFENCE
            }
            self.written.append(WrittenRecord(self._log.end_offset, records, frozenset(active)))
        return effects

    @property
    def registered(self) -> PartitionRegistration:
        """The partition's registration, as the controller has decided it."""
        topic = self.state.cluster.with_id(TOPIC_ID)
        assert topic is not None
        return topic.partitions[0].registration

    def create_topic(self, replicas: Sequence[int], configs: dict[str, str], now: TimeMs) -> None:
        """Create the only topic, with one partition."""
        registration = PartitionRegistration.new(replicas, replicas)
        self.state.change_metadata(topic_records(TOPIC, TOPIC_ID, configs, [registration]), now)

    def ask(self, request: Message, now: TimeMs) -> Any:
        """Return the answer to a request of any of its APIs."""
        handle, version = _HANDLERS[type(request)]
        context = RequestContext(
            version, "model", 0, self.state, Advertised(()), lambda: now, _CHANCE, [],
            role=self._role,
        )  # fmt: skip
        answer = handle(request, context)
        assert isinstance(answer, Answer)
        return answer.message

    def elect(self, now: TimeMs, *, unclean: bool) -> bool:
        """Hold a requested election; True if it succeeded."""
        request = messages.ElectLeadersRequest
        asked = request.TopicPartitions(topic=TOPIC, partitions=[0])
        kind = _UNCLEAN if unclean else _PREFERRED
        answer = self.ask(request(election_type=kind, topic_partitions=[asked]), now)
        result = answer.replica_election_results[0].partition_result[0]
        return bool(result.error_code == ErrorCode.NONE)

    def reassign(self, replicas: Sequence[int] | None, now: TimeMs) -> bool:
        """Reassign the partition, or cancel that; True if it was accepted."""
        request = messages.AlterPartitionReassignmentsRequest
        wanted = None if replicas is None else [*replicas]
        part = request.ReassignablePartition(partition_index=0, replicas=wanted)
        topic = request.ReassignableTopic(name=TOPIC, partitions=[part])
        answer = self.ask(request(topics=[topic]), now)
        return bool(answer.responses[0].partitions[0].error_code == ErrorCode.NONE)

    def fence_stale(self, now: TimeMs) -> bool:
        """Fence one broker with an expired session; True if there was one."""
        stale = self._role.sessions.stale(now)
        if stale is None:
            return False
        registered = self.state.brokers.get(stale)
        if registered is not None and not registered.is_fenced:
            self.state.change_metadata(fenced(self.state, registered), now)
        self._role.sessions.apply(stale, BrokerEvent.SESSION_ENDED)
        return True

    def look_after_leaders(self, now: TimeMs) -> bool:
        """Hold the controller's periodic elections; True if it wrote anything."""
        before = len(self.written)
        self.state.change_metadata(unclean_leaders(self.state), now)
        self.state.change_metadata(preferred_leaders(self.state), now)
        return len(self.written) > before


def _is_active(broker: BrokerRegistration) -> bool:
    return not broker.is_fenced and not broker.is_shutting_down

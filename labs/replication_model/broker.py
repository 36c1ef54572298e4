"""One broker as plain state: a process that comes and goes, and a disk that stays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from harness.base.ids import BrokerId, Offset, TimeMs
from harness.codec.messages import (
    AlterPartitionRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.cluster.isr_proposals import proposal
from harness.reference_broker.handlers.api_18_api_versions import supported_ranges
from harness.reference_broker.initial_state import member_state
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs
from harness.reference_broker.state.log.log_store import Log
from harness.reference_broker.state.log.partition_log import PartitionLog
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.metadata.metadata_image import apply_records, begin_replicas
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER, Endpoint
from labs.replication_model.controller import CLUSTER_ID, TOPIC_ID, ModelController

LAG_MS = 500
_SETTINGS = {
    number: BrokerSettings.of({"node.id": str(number), "replica.lag.time.max.ms": str(LAG_MS)})
    for number in range(1, 6)
}
_AT = Endpoint("localhost", 9092)
_BEGIN = Offset(0)


@dataclass(slots=True)
class ReplicaDisk:
    """The state of a broker that outlives its process."""

    log: Log = field(default_factory=PartitionLog)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    high_watermark: Offset = _BEGIN
    ended_as: int = -1
    lost_tail: bool = False


class Broker:
    """A process while `state` is there. `silent`: its heartbeats do not arrive."""

    def __init__(self, number: int) -> None:
        self.id = BrokerId(number)
        self.disk = ReplicaDisk()
        self.state: BrokerState | None = None
        self.partition: Partition | None = None  # once the broker has read of it
        self.epoch = -1
        self.read = 0
        self.wants_shut_down = self.silent = False
        self._incarnations = 0

    # -- the process -----------------------------------------------------------------------------

    @property
    def leads(self) -> bool:
        """True if it believes that it leads."""
        return self.partition is not None and self.partition.leading is not None

    def start(self, controller: ModelController, now: TimeMs) -> bool:
        """Register a new incarnation; True if the controller accepted it.

        It acts once it has read all metadata up to its registration, not on older metadata.
        """
        self._incarnations += 1
        incarnation = UUID(int=self.id * 1_000_000 + self._incarnations)
        answer = controller.ask(self._registration(incarnation), now)
        if answer.error_code:
            return False
        self.epoch = answer.broker_epoch
        self.wants_shut_down = self.silent = False
        self.state, self.partition = member_state(_SETTINGS[self.id], _AT, CLUSTER_ID), None
        self.state.cluster.host.broker_epoch = self.epoch
        self.read = 0
        self.read_metadata(controller, len(controller.written), now)
        self._load()
        begin_replicas(self.state, now)
        return True

    def _registration(self, incarnation: UUID) -> BrokerRegistrationRequest:
        request = BrokerRegistrationRequest
        ranges = supported_ranges("").items()
        return request(
            broker_id=self.id,
            cluster_id=CLUSTER_ID,
            incarnation_id=incarnation,
            listeners=[request.Listener(name=CLIENT_LISTENER, host=_AT.host, port=_AT.port)],
            features=[
                request.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in ranges
            ],
            log_dirs=[UUID(int=1_000 + self.id)],
            previous_broker_epoch=self.disk.ended_as,
        )

    def _load(self) -> None:
        partition = self.partition
        if partition is None:
            return
        disk = self.disk
        partition.log, partition.epochs = disk.log, disk.epochs
        partition.high_watermark = min(disk.high_watermark, disk.log.end_offset)

    def crash(self, lost_batches: int) -> None:
        """End the process without a shutdown; the log's last batches may be lost."""
        self._end(-1)
        batches = self.batches
        if lost_batches and batches:
            first = batches[-lost_batches:][0].base_offset
            self.disk.log.truncate_from(first)
            self.disk.epochs.truncate_from(first)
            self.disk.lost_tail = True

    def end(self) -> None:
        """Shut the process down in order."""
        self._end(self.epoch)

    def _end(self, ended_as: int) -> None:
        partition, self.state, self.partition = self.partition, None, None
        self.disk.ended_as = ended_as
        if partition is not None:
            self.disk.log, self.disk.epochs = partition.log, partition.epochs
            self.disk.high_watermark = partition.high_watermark

    @property
    def log(self) -> Log:
        """The log of the process, or the log on the disk."""
        return self.disk.log if self.partition is None else self.partition.log

    @property
    def batches(self) -> list[StoredBatch]:
        """All batches in the log."""
        return list(self.log.between(self.log.start_offset, self.log.end_offset))

    # -- what it does ----------------------------------------------------------------------------

    def read_metadata(self, controller: ModelController, batches: int, now: TimeMs) -> bool:
        """Apply the next batches of metadata; True if there were any."""
        assert self.state is not None
        news = controller.written[self.read : self.read + batches]
        for batch in news:
            apply_records(self.state, batch.records, now)
        self.read += len(news)
        self.state.effects.clear()
        topic = self.state.cluster.with_id(TOPIC_ID)
        self.partition = topic.partitions[0] if topic is not None else None
        return bool(news)

    def heartbeat(self, controller: ModelController, now: TimeMs) -> Any:
        """Send the controller a heartbeat with the broker's metadata offset."""
        behind = controller.written[self.read - 1].end if self.read else 0
        request = BrokerHeartbeatRequest(
            broker_id=self.id,
            broker_epoch=self.epoch,
            current_metadata_offset=behind - 1,
            want_shut_down=self.wants_shut_down,
        )
        return controller.ask(request, now)

    def append(self, text: str, records: int, now: TimeMs) -> list[StoredBatch]:
        """Append a client's batch and return it as it is in the log."""
        assert self.partition is not None
        rows = [Record(text.encode(), None, offset_delta=place) for place in range(records)]
        batch = encode_batch(RecordBatch(records=rows, base_timestamp=now), "none")
        appended = self.partition.append(batch, now)
        return list(self.partition.log.between(appended.base_offset, appended.end_offset))

    def proposal(self) -> AlterPartitionRequest | None:
        """Return the leader's proposal of another ISR; None without one, or if it does not lead."""
        partition = self.partition
        if partition is None or partition.leading is None or partition.leading.proposed is None:
            return None
        topic = AlterPartitionRequest.TopicData(
            topic_id=TOPIC_ID, partitions=[proposal(partition, self.epoch)]
        )
        return AlterPartitionRequest(broker_id=self.id, broker_epoch=self.epoch, topics=[topic])

"""Replicas of one partition on several brokers, as plain state: one leads, others follow."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from harness.base.ids import BrokerId, LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.partition.following import append_fetched, truncate_to_leader
from harness.reference_broker.state.partition.leading import ReplicationRules
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.registrations.brokers import BrokerRegistration
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
    ids_of,
)
from tests.reference_broker.made_controller import broker

NOW, LAG_MS = TimeMs(1_700_000_000_000), 500
TOPIC_ID = UUID(int=7)


def decided(
    leader: int, epoch: int = 0, isr: Sequence[int] = (1, 2, 3), partition_epoch: int = 0
) -> PartitionRegistration:
    """The controller's registration of a partition with replicas on 1, 2 and 3."""
    return PartitionRegistration(
        ids_of((1, 2, 3)), ids_of(isr), BrokerId(leader), LeaderEpoch(epoch), partition_epoch
    )


def replica(
    own: int,
    registration: PartitionRegistration,
    brokers: Iterable[BrokerRegistration] = (),
    *,
    holds_below_minimum: bool = True,
    like: EmulatedRelease = LIKE_NONE,
    **configs: str,
) -> Partition:
    """A replica on one broker; all others are active by default."""
    rules = ReplicationRules(LAG_MS, holds_below_minimum)
    host = ReplicaHost(BrokerId(own), rules=rules, broker_epoch=10 * own)
    for each in brokers or [broker(1), broker(2), broker(3)]:
        host.brokers.put(each)
    given = {name.replace("_", "."): value for name, value in configs.items()}
    producers = ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())
    config = TopicConfig.of(given, {}, like)
    return Partition.empty(TOPIC_ID, PartitionIndex(0), config, producers, host, registration, NOW)


def write(partition: Partition, *values: str, now: TimeMs = NOW, **fields: int) -> Offset:
    """Append one batch and return the end of the log."""
    records = [Record(value.encode(), None) for value in values]
    batch = encode_batch(RecordBatch(records=records, base_timestamp=now, **fields), "none")
    return partition.append(batch, now).end_offset


def batches(partition: Partition) -> list[StoredBatch]:
    """All batches in the log."""
    return list(partition.log.between(partition.log.start_offset, partition.log.end_offset))


def copy(leader: Partition, follower: Partition, limit_bytes: int = 10_000) -> None:
    """Do a Fetch without sockets: truncate the follower where the logs diverge, else append."""
    at, latest = follower.log.end_offset, follower.epochs.latest
    if latest is not None:
        end = leader.end_of_epoch(latest)
        assert end is not None
        if end.epoch < latest or end.end_offset < at:
            truncate_to_leader(follower, end.epoch, end.end_offset)
            return
    records = leader.log.read(at, limit_bytes, at_least_one=True)
    start = leader.log.start_offset
    append_fetched(follower, records, leader.high_watermark, start, NOW)

"""The state of a broker with a transaction coordinator, and shortcuts to its transactions."""

from __future__ import annotations

import random
from collections.abc import Collection

from harness.base.ids import PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.reference_broker.initial_state import state_of
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.log.stored_batch import marker_of
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.partition_transactions import Marker
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.topics.topic_names import (
    GROUP_METADATA_TOPIC,
    TRANSACTION_STATE_TOPIC,
)
from harness.reference_broker.state.transactions.adding import add
from harness.reference_broker.state.transactions.ending import WantedEnd, end
from harness.reference_broker.state.transactions.initializing import initialize
from harness.reference_broker.state.transactions.transaction import Place, Transaction
from harness.reference_broker.state.transactions.transactions import (
    TransactionLimits,
    Transactions,
)

NOW = TimeMs(1_700_000_000_000)
NAME, TOPIC, TIMEOUT_MS = "payments", "orders", 60_000
PLACE: Place = (TOPIC, PartitionIndex(0))


def made_state(like: str = "", **settings: str) -> BrokerState:
    """A broker with the topics of its coordinators, and with one more of two partitions."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    given = {"num.partitions": "2", "offsets.topic.num.partitions": "1", **given}
    state = state_of(BrokerSettings.of(given, like), "127.0.0.1", 9092, random.Random(1))
    for topic in (TRANSACTION_STATE_TOPIC, GROUP_METADATA_TOPIC, TOPIC):
        state.auto_create_topic(topic, random.Random(2), NOW)
    return state


def made_transactions(memory_bytes: int = 1_000_000) -> Transactions:
    """The transactions of such a broker, under these limits."""
    state = made_state()
    limits = TransactionLimits(900_000, expiration_ms=1_000, memory_bytes=memory_bytes)
    return Transactions(limits, state.transactions.log, state.producer_ids)


def identity(producer_id: int, epoch: int) -> ProducerIdentity:
    """A producer id with an epoch."""
    return ProducerIdentity(ProducerId(producer_id), ProducerEpoch(epoch))


def begun(
    transactions: Transactions,
    places: Collection[Place] = (PLACE,),
    version: int = 0,
    now: TimeMs = NOW,
) -> ProducerIdentity:
    """Initialize the transactional id and begin a transaction in these partitions."""
    given = initialize(transactions, NAME, TIMEOUT_MS, None, now)
    assert isinstance(given, ProducerIdentity)
    assert add(transactions, NAME, given, places, version, now) is ErrorCode.NONE
    return given


def known(transactions: Transactions) -> Transaction:
    """The state of the transactional id."""
    found = transactions.find(NAME)
    assert found is not None
    return found


def ended(
    transactions: Transactions, producer: ProducerIdentity, version: int = 0, *, commits: bool
) -> ProducerIdentity | ErrorCode:
    """End the transaction; the markers are not written yet."""
    return end(transactions, WantedEnd(NAME, producer, commits, version), NOW)


def partition_of(state: BrokerState, place: Place = PLACE) -> Partition:
    """A partition of the broker."""
    found = state.marker_writer.partition_at(place)
    assert found is not None
    return found


def markers(partition: Partition) -> list[Marker]:
    """The markers in a partition, in their order."""
    log = partition.log
    stored = log.between(log.start_offset, log.end_offset)
    found = [marker_of(batch.data, BatchHeader.read(batch.data)) for batch in stored]
    return [marker for marker in found if marker is not None]

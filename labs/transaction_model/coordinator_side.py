"""The coordinator of the built-in broker, of which each step asks."""

from __future__ import annotations

import random
from dataclasses import replace

from harness.base.ids import PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.reference_broker.initial_state import state_of
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.log.stored_batch import marker_of
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.topics.topic_names import TRANSACTION_STATE_TOPIC
from harness.reference_broker.state.transactions import adding, ending, expiry, initializing
from harness.reference_broker.state.transactions.transaction import Transaction
from harness.reference_broker.state.transactions.transaction_loading import (
    load_transactions,
    unload_transactions,
)
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from labs.transaction_model.promised import HeldIdentity, PromisedState

_Answer = HeldIdentity | ErrorCode
NAME, TOPIC, PLACES = "payments", "orders", 2
_BEGAN = TimeMs(1_700_000_000_000)
STATES = {
    TransactionState.EMPTY: PromisedState.IDLE,
    TransactionState.ONGOING: PromisedState.OPEN,
    TransactionState.PREPARE_COMMIT: PromisedState.COMMITTING,
    TransactionState.PREPARE_ABORT: PromisedState.ABORTING,
    TransactionState.COMPLETE_COMMIT: PromisedState.COMMITTED,
    TransactionState.COMPLETE_ABORT: PromisedState.ABORTED,
}


class CoordinatorSide:
    """Its answers have the form of the model's: producer ids are counted as they appear."""

    def __init__(self, *, newer: bool) -> None:
        given = {"num.partitions": str(PLACES), "transaction.state.log.num.partitions": "1"}
        self._state = state_of(BrokerSettings.of(given, ""), "h", 9092, random.Random(1))
        for topic in (TRANSACTION_STATE_TOPIC, TOPIC):
            self._state.auto_create_topic(topic, random.Random(2), _BEGAN)
        self._transactions = self._state.transactions
        self._version = 2 if newer else 0
        self._ids: dict[int, int] = {}

    @property
    def known(self) -> Transaction | None:
        """The state of the transactional id."""
        return self._transactions.find(NAME)

    def start_at_epoch(self, epoch: int) -> None:
        """Continue as if the producer id had given out so many epochs."""
        known = self.known
        assert known is not None
        later = replace(known, producer_epoch=ProducerEpoch(epoch))
        self._transactions.change(later, _BEGAN)

    def init(self, timeout_ms: int, expected: HeldIdentity | None, now_ms: int) -> _Answer:
        given = None if expected is None else self._identity(expected)
        now = TimeMs(_BEGAN + now_ms)
        answer = initializing.initialize(self._transactions, NAME, timeout_ms, given, now)
        return self._held(answer)

    def add(self, producer: HeldIdentity, place: int, now_ms: int) -> ErrorCode:
        places, now = [(TOPIC, PartitionIndex(place))], TimeMs(_BEGAN + now_ms)
        identity = self._identity(producer)
        return adding.add(self._transactions, NAME, identity, places, self._version, now)

    def end(self, producer: HeldIdentity, now_ms: int, *, commits: bool) -> _Answer:
        wanted = ending.WantedEnd(NAME, self._identity(producer), commits, self._version)
        return self._held(ending.end(self._transactions, wanted, TimeMs(_BEGAN + now_ms)))

    def time_is_up(self, now_ms: int) -> None:
        expiry.abort_overdue(self._transactions, TimeMs(_BEGAN + now_ms))

    def write_markers(self, now_ms: int) -> None:
        self._state.settle_transactions(TimeMs(_BEGAN + now_ms))

    def reload(self) -> None:
        partition = self._transactions.log.partition_of(NAME)
        assert partition is not None
        unload_transactions(self._transactions, partition)
        load_transactions(self._transactions, partition)

    # -- shown to the comparison -------------------------------------------------------------------

    @property
    def held(self) -> HeldIdentity | None:
        """The identity of the id, without that of a producer id that follows."""
        known = self.known
        return None if known is None else self._shown(known.identity)

    @property
    def places(self) -> set[int]:
        known = self.known
        return set() if known is None else {int(index) for _, index in known.places}

    def marks(self, place: int) -> list[tuple[int, bool]]:
        """The epochs and directions of the markers in a partition."""
        found = self._state.marker_writer.partition_at((TOPIC, PartitionIndex(place)))
        assert found is not None
        stored = found.log.between(found.log.start_offset, found.log.end_offset)
        markers = [marker_of(batch.data, BatchHeader.read(batch.data)) for batch in stored]
        return [(one.producer_epoch, one.aborts) for one in markers if one is not None]

    def _held(self, answer: ProducerIdentity | ErrorCode) -> _Answer:
        return answer if isinstance(answer, ErrorCode) else self._shown(answer)

    def _shown(self, identity: ProducerIdentity) -> HeldIdentity:
        count = self._ids.setdefault(identity.producer_id, len(self._ids))
        return HeldIdentity(count, identity.producer_epoch)

    def _identity(self, held: HeldIdentity) -> ProducerIdentity:
        ids = {count: producer_id for producer_id, count in self._ids.items()}
        return ProducerIdentity(ProducerId(ids[held.id]), ProducerEpoch(held.epoch))

"""A transactional producer that repeats requests as Kafka's clients do, and notes each outcome.

| state | event | then |
|---|---|---|
| no identity | ``init`` succeeds | ready |
| ready | ``begin`` | in a transaction |
| in a transaction | ``send``, ``send_offsets`` succeed | in a transaction |
| in a transaction | one of them fails | MustAbort: only ``abort`` is left |
| in a transaction | ``commit``, ``abort`` succeed | ready |
| in a transaction | ``commit`` fails, or its outcome is unknown | no identity |
| in a transaction | ``abort`` after a failure | no identity: ``init`` aborts what is open |
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from harness.client.coordinator import GROUP, TRANSACTION
from harness.client.only import only
from harness.client.requests import produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    ProduceRequest,
    ProduceResponse,
    TxnOffsetCommitRequest,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.wire import ClientWire, GivenUp

OLDER = {ProduceRequest: "3-11", EndTxnRequest: "0-4", TxnOffsetCommitRequest: "0-4"}
NEWER = {ProduceRequest: "12", EndTxnRequest: "5", TxnOffsetCommitRequest: "5"}
"""Versions of a client in each form of transactions (KIP-890); later ones name topics by id."""
TRANSACTION_MS = 30_000
NO_ID, NONE = -1, ErrorCode.NONE
INVOKE, OK, FAIL, INFO = OperationOutcome


class MustAbort(Exception):
    """The transaction cannot be committed any more."""


class WireProducer:
    """One transactional id; ``name`` is its process in the history."""

    def __init__(
        self, name: str, wire: ClientWire, notes: TransactionNotes, *, newer: bool
    ) -> None:
        self.name, self.wire, self.notes, self.newer = name, wire, notes, newer
        self._forms = NEWER if newer else OLDER
        self._key = (TRANSACTION, f"{wire.topic.name}-{name}")
        self._id = self._epoch = NO_ID
        self._sequences: Counter[int] = Counter()
        self._partitions: set[int] = set()
        self._is_open = False  # the coordinator may know of a transaction

    @property
    def transactional_id(self) -> str:
        return self._key[1]

    # -- the producer's identity -------------------------------------------------------------------

    def init(self) -> None:
        """Get a new epoch, which ends what is open. Raises GivenUp."""
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=TRANSACTION_MS,
            producer_id=NO_ID,
            producer_epoch=NO_ID,
        )
        version = self.wire.version(InitProducerIdRequest, "0-5")
        answer, _ = self.wire.ask_until(
            self._key, request, version, lambda one: one.error_code, self.wire.time_is_up()
        )
        if answer.error_code != NONE:
            raise GivenUp(f"InitProducerId: {ErrorCode.describe(answer.error_code)}")
        self._take(answer.producer_id, answer.producer_epoch)

    def _take(self, producer_id: int, epoch: int) -> None:
        self._id, self._epoch = producer_id, epoch
        self._sequences.clear()

    # -- a transaction -----------------------------------------------------------------------------

    def begin(self, label: str) -> None:
        """Open a transaction of this name; the brokers learn of it with its first record."""
        if self._id == NO_ID:
            self.init()
        self._partitions.clear()
        self._is_open = False
        self.notes.add(self.name, OK, ClientAction.BEGIN, value=label)

    def send(self, partition: int, values: Sequence[str]) -> None:
        """Append one batch. Raises MustAbort."""
        for value in values:
            self.notes.add(self.name, INVOKE, ClientAction.SEND, partition, value=value)
        try:
            self._add(partition)
            base = self._produce(partition, values)
        except (MustAbort, GivenUp) as failed:
            for value in values:
                self.notes.add(self.name, INFO, ClientAction.SEND, partition, value=value,
                               detail=str(failed))  # fmt: skip
            raise MustAbort(str(failed)) from failed
        for delta, value in enumerate(values):
            offset = base + delta if base >= 0 else -1
            self.notes.add(self.name, OK, ClientAction.SEND, partition, offset, value)

    def _add(self, partition: int) -> None:
        self._is_open = True
        if self.newer or partition in self._partitions:
            return
        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
            name=self.wire.topic.name, partitions=[partition]
        )
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self._id,
            v3_and_below_producer_epoch=self._epoch,
            v3_and_below_topics=[topic],
        )
        answer, _ = self.wire.ask_until(
            self._key,
            request,
            self.wire.version(AddPartitionsToTxnRequest, "0-3"),
            lambda one: (
                only(
                    only(one.results_by_topic_v3_and_below, "topic").results_by_partition,
                    "partition",
                ).partition_error_code
            ),
            self.wire.time_is_up(),
        )
        results = only(answer.results_by_topic_v3_and_below, "topic").results_by_partition
        _require(only(results, "partition").partition_error_code, "AddPartitionsToTxn")
        self._partitions.add(partition)

    def _produce(self, partition: int, values: Sequence[str]) -> int:
        batch = RecordBatch(
            [Record(value.encode()) for value in values],
            base_timestamp=time.time_ns() // 1_000_000,
            attributes=TRANSACTIONAL,
            producer_id=self._id,
            producer_epoch=self._epoch,
            base_sequence=self._sequences[partition],
        )
        version = self.wire.version(ProduceRequest, self._forms[ProduceRequest])
        request = produce_request(
            self.wire.topic, encode_batch(batch), version, partition=partition
        )
        request.transactional_id = self.transactional_id
        answer, _ = self.wire.ask_until(
            partition,
            request,
            version,
            lambda one: _produced(one).error_code,
            self.wire.time_is_up(),
        )
        found = _produced(answer)
        if found.error_code not in (NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            raise MustAbort(f"Produce: {ErrorCode.describe(found.error_code)}")
        self._sequences[partition] += len(values)
        return found.base_offset if found.error_code == NONE else -1

    def send_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        """Commit these offsets of a group in the transaction. Raises MustAbort."""
        for partition, offset in offsets.items():
            self.notes.add(self.name, INVOKE, ClientAction.SEND_OFFSETS, partition, offset)
        outcome, said = OK, ""
        try:
            self._add_offsets(group)
            self._commit_offsets(group, offsets)
        except (MustAbort, GivenUp) as failed:
            outcome, said = INFO, str(failed)
            raise MustAbort(str(failed)) from failed
        finally:
            for partition, offset in offsets.items():
                self.notes.add(self.name, outcome, ClientAction.SEND_OFFSETS, partition, offset,
                               detail=said)  # fmt: skip

    def _add_offsets(self, group: str) -> None:
        self._is_open = True
        if self.newer:
            return
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self._id,
            producer_epoch=self._epoch,
            group_id=group,
        )
        version = self.wire.version(AddOffsetsToTxnRequest, "0-3")
        answer, _ = self.wire.ask_until(
            self._key, request, version, lambda one: one.error_code, self.wire.time_is_up()
        )
        _require(answer.error_code, "AddOffsetsToTxn")

    def _commit_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        one = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition
        partitions = [
            one(partition_index=at, committed_offset=offset, committed_metadata="")
            for at, offset in offsets.items()
        ]
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group,
            producer_id=self._id,
            producer_epoch=self._epoch,
            topics=[
                TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic(
                    name=self.wire.topic.name, partitions=partitions
                )
            ],
        )
        version = self.wire.version(TxnOffsetCommitRequest, self._forms[TxnOffsetCommitRequest])
        answer, _ = self.wire.ask_until(
            (GROUP, group),
            request,
            version,
            lambda one: max(each.error_code for each in only(one.topics, "topic").partitions),
            self.wire.time_is_up(),
        )
        _require(
            max(each.error_code for each in only(answer.topics, "topic").partitions),
            "TxnOffsetCommit",
        )

    # -- its end -----------------------------------------------------------------------------------

    def commit(self) -> bool:
        """True if it is surely committed. A refusal of the first request surely aborts."""
        self.notes.add(self.name, INVOKE, ClientAction.COMMIT)
        outcome, said = INFO, ""
        try:
            answer, attempts = self._end(commit=True)
            outcome, said = OK, ""
            if answer.error_code != NONE:
                outcome = FAIL if attempts == 1 else INFO
                said = ErrorCode.describe(answer.error_code)
        except GivenUp as failed:
            said = str(failed)
        self.notes.add(self.name, outcome, ClientAction.COMMIT, detail=said)
        if outcome is not OK:
            self._id = NO_ID
        return outcome is OK

    def abort(self, *, failed: bool) -> None:
        """Abort by EndTxn, after a failure by a new epoch; it may end with a later ``init``."""
        self.notes.add(self.name, INVOKE, ClientAction.ABORT)
        outcome = OK
        try:
            if failed:
                self._id = NO_ID
                self.init()
            elif self._is_open and self._end(commit=False)[0].error_code != NONE:
                self._id = NO_ID
        except GivenUp:
            outcome, self._id = INFO, NO_ID
        self.notes.add(self.name, outcome, ClientAction.ABORT)

    def _end(self, *, commit: bool) -> tuple[EndTxnResponse, int]:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self._id,
            producer_epoch=self._epoch,
            committed=commit,
        )
        version = self.wire.version(EndTxnRequest, self._forms[EndTxnRequest])
        answer, attempts = self.wire.ask_until(
            self._key, request, version, lambda one: one.error_code, self.wire.time_is_up()
        )
        if answer.error_code == NONE and self.newer:
            self._take(answer.producer_id, answer.producer_epoch)
        return answer, attempts


def _produced(answer: ProduceResponse) -> ProduceResponse.PartitionProduceResponse:
    return only(only(answer.responses, "topic").partition_responses, "partition")


def _require(code: int, what: str) -> None:
    if code != NONE:
        raise MustAbort(f"{what}: {ErrorCode.describe(code)}")

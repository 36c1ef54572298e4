"""Defects of area IDEM: wrong checks of sequences and epochs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsRequest,
    DescribeProducersResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import BATCH_HEADER_BYTES, BatchHeader, decode_batches, encode_batch
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.idem import FIRST_WITH_BATCHES, StoresSomeAgain
from labs.defects.idem import Batch as Remembered

Answer = ProduceResponse.PartitionProduceResponse
LAST_SEQUENCE = 2**31 - 1
WINDOW = 5
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
NOTE = "batch"
FAR = 1_000_000  # a sequence that no batch before it reaches
Line = tuple[int, int]
"""Partition and producer."""


@dataclass(frozen=True, slots=True)
class SentBatch:
    """A producer's batch as the defects see it; no producer of these tests writes to two topics."""

    partition: int
    producer: int
    epoch: int
    first: int
    last: int

    @property
    def line(self) -> Line:
        """The partition and the producer of these sequences."""
        return (self.partition, self.producer)


def batch_in(seen: SeenRequest) -> SentBatch | None:
    """The batch for the only partition of a request; None without a producer id."""
    request = seen.message
    if not isinstance(request, ProduceRequest) or seen.version < FIRST_WITH_BATCHES:
        return None
    entries = [entry for topic in request.topic_data for entry in topic.partition_data]
    if len(entries) != 1 or len(entries[0].records or b"") < BATCH_HEADER_BYTES:
        return None
    (entry,) = entries
    header = BatchHeader.read(bytes(entry.records or b""))
    if header.magic < 2 or header.producer_id < 0:
        return None
    last = (header.base_sequence + header.last_offset_delta) % (LAST_SEQUENCE + 1)
    return SentBatch(
        entry.index, header.producer_id, header.producer_epoch, header.base_sequence, last
    )


class LooksAtBatches(FrameRule):
    """Record the batches of each producer, and edit the answers to them."""

    def __init__(self) -> None:
        self.sent: dict[Line, list[SentBatch]] = defaultdict(list)

    def on_request(self, seen: SeenRequest) -> bytes | None:
        batch = batch_in(seen)
        if batch is None:
            return seen.payload
        before = self.sent[batch.line]
        if self.strikes(batch, before):
            seen.notes[NOTE] = batch
        before.append(batch)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        batch = seen.notes.get(NOTE)
        if not isinstance(batch, SentBatch):
            return [payload]
        return [edited(seen, payload, self._edit)]

    def _edit(self, seen: SeenRequest, message: ProduceResponse) -> None:
        batch = seen.notes[NOTE]
        assert isinstance(batch, SentBatch)
        self.edit(batch, message.responses[0].partition_responses[0])

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        """True if the defect strikes a batch, by the batches before it."""
        raise NotImplementedError

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        """Change the answer in place."""
        raise NotImplementedError


def acknowledge(answer: Answer, instead_of: ErrorCode) -> None:
    """Return NONE and offset 0 in place of this error."""
    if answer.error_code == instead_of:
        answer.error_code, answer.base_offset = ErrorCode.NONE, 0


def refuse(answer: Answer, error: ErrorCode) -> None:
    """Return this error in place of an acknowledgement."""
    if answer.error_code == ErrorCode.NONE:
        answer.error_code, answer.base_offset = error, -1


class OneMissingRecordIsNoGap(FrameRule):
    """The broker accepts a batch if one sequence is missing between it and the last one."""

    def __init__(self) -> None:
        self.last: dict[Line, SentBatch] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        batch = batch_in(seen)
        if batch is None:
            return seen.payload
        last = self.last.get(batch.line)
        self.last[batch.line] = batch
        if last is None or last.epoch != batch.epoch or batch.first != last.last + 2:
            return seen.payload
        assert isinstance(seen.message, ProduceRequest)
        entry = seen.message.topic_data[0].partition_data[0]
        (stored,) = decode_batches(bytes(entry.records or b""))
        entry.records = encode_batch(replace(stored, base_sequence=last.last + 1, crc=None))
        return with_body(seen, seen.message)


class _KnowsWhatIsStored(LooksAtBatches):
    """Edit the acknowledgement of a batch that was acknowledged before."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: set[SentBatch] = set()
        self.latest: dict[Line, int] = {}

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return True

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        if answer.error_code != ErrorCode.NONE:
            return
        if batch in self.stored:
            self.edit_repeated(batch, answer)
        else:
            self.stored.add(batch)
            self.latest[batch.line] = answer.base_offset

    def edit_repeated(self, batch: SentBatch, answer: Answer) -> None:
        """Change the answer in place."""
        raise NotImplementedError


class ProducersShareTheWindow(LooksAtBatches):
    """The broker remembers the last five batches of a partition, whichever producers sent them."""

    def __init__(self) -> None:
        super().__init__()
        self.in_order: dict[SentBatch, None] = {}

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        is_known = batch in self.in_order
        self.in_order[batch] = None
        latest = list(self.in_order)[-2 * WINDOW :]
        in_turns = all(one.producer != other.producer for one, other in pairwise(latest))
        are_two = len({one.producer for one in latest}) == len(latest) / WINDOW
        return is_known and in_turns and are_two and batch in latest[:WINDOW]

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, OUT_OF_ORDER)


class ARepeatedBatchIsAnError(_KnowsWhatIsStored):
    """The broker refuses a stored batch as a duplicate, without its offset."""

    def edit_repeated(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)


class ARepeatedBatchIsToldWhereTheLastStands(_KnowsWhatIsStored):
    """The broker answers every repeated batch with the offset of the last one."""

    def edit_repeated(self, batch: SentBatch, answer: Answer) -> None:
        answer.base_offset = self.latest[batch.line]


class ARepeatedBatchIsCountedBack(_KnowsWhatIsStored):
    """The broker counts the offset of a repeated batch from its sequences, and forgets the wrap."""

    def edit_repeated(self, batch: SentBatch, answer: Answer) -> None:
        if batch.last < batch.first:
            answer.base_offset += LAST_SEQUENCE + 1


class WhatIsForgottenIsStoredAgain(StoresSomeAgain):
    """The broker takes a batch from before the last five for a new one."""

    def __init__(self) -> None:
        self.known: dict[int, list[int]] = defaultdict(list)

    def forgets(self, batch: Remembered) -> bool:
        producer, sequence = batch
        known = self.known[producer]
        if sequence in known:
            return sequence not in known[-WINDOW:]
        known.append(sequence)
        return False


class TheFirstSequenceDecides(LooksAtBatches):
    """The broker takes a batch for a repeated one by its first sequence alone."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        same_epoch = [one for one in before if one.epoch == batch.epoch]
        return any(one.first == batch.first and one.last != batch.last for one in same_epoch)

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, OUT_OF_ORDER)


class AHigherEpochGoesOn(LooksAtBatches):
    """The broker continues the sequences of the lower epoch at a higher one."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return bool(before) and before[-1].epoch < batch.epoch == 1 and batch.first > 0

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, OUT_OF_ORDER)


class ARefusedEpochFences(LooksAtBatches):
    """The broker remembers the epoch of a batch before the check of its sequence and records."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return any(one.epoch > batch.epoch for one in before)

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, ErrorCode.INVALID_PRODUCER_EPOCH)


class SequencesEndAtTheLast(LooksAtBatches):
    """The broker refuses sequence 0 after the last sequence as out of order."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch.first == 0 and any(one.last == LAST_SEQUENCE for one in before)

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, OUT_OF_ORDER)


class ASequenceMayBeNegative(LooksAtBatches):
    """The broker accepts a producer id without a sequence."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch.first < 0

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, ErrorCode.INVALID_RECORD)


class PartitionsShareTheirSequences(LooksAtBatches):
    """The broker refuses a sequence as out of order that another partition of the topic has."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[tuple[int, int, int], int] = {}

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        key = (batch.producer, batch.epoch, batch.first)
        return self.places.setdefault(key, batch.partition) != batch.partition

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, OUT_OF_ORDER)


class AProducerGoesWithItsRecords(LooksAtBatches):
    """The broker forgets a producer when its records are deleted, and then requires sequence 0."""

    def __init__(self) -> None:
        super().__init__()
        self.forgotten: set[Line] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, DeleteRecordsRequest):
            self.forgotten |= set(self.sent)
        return super().on_request(seen)

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        producers = {line[-1] for line in self.forgotten}
        return batch.first > 0 and batch.producer in producers

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, ErrorCode.UNKNOWN_PRODUCER_ID)


class AForgottenProducerStartsAnywhere(AProducerGoesWithItsRecords):
    """The broker forgets a producer when its records are deleted, and takes any sequence then."""

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, OUT_OF_ORDER)


class ProducersAreKeptForEver(LooksAtBatches):
    """The broker refuses a gap as out of order however long the producer was idle."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        if not before:
            return False
        last = before[0].last
        for each in before[1:]:
            last = each.last if each.first == last + 1 else last
        return batch.first > last + 1

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, OUT_OF_ORDER)


class AnActiveProducerExpires(LooksAtBatches):
    """The broker forgets a producer at some time after its first batch, idle or not."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return bool(before) and batch.first == FAR

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, OUT_OF_ORDER)


class WhatIsInFlightCounts(LooksAtBatches):
    """The broker accepts a batch that follows a refused one."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        same_epoch = bool(before) and before[-1].epoch == batch.epoch
        return same_epoch and batch.first == before[-1].last + 1

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, OUT_OF_ORDER)


@answers(
    "IDEM-019",
    r"partition 0, \(id, .*, transaction start\): .*, 3, -1\)"
    r"|partition 1, \(id, .*, transaction start\): \{\(\d+, 0, 1, -1\)\}|30 producers wrote",
)
def the_next_sequence_is_told(answer: DescribeProducersResponse) -> None:
    """DescribeProducers returns the next sequence of a producer as its last one."""
    for topic in answer.topics:
        for partition in topic.partitions:
            for producer in partition.active_producers:
                producer.last_sequence += 1


TAKEN = r"error is NONE \(0\), expected OUT_OF_ORDER_SEQUENCE_NUMBER"
REFUSED = r"error is OUT_OF_ORDER_SEQUENCE_NUMBER \(45\), expected NONE"
DEFECTS = [
    rule("IDEM-004", rf"sequence 4 behind 2: {TAKEN}", OneMissingRecordIsNoGap),
    rule("IDEM-005", r"of two producers the one at \d once more: error is OUT_OF_ORDER",
         ProducersShareTheWindow),
    rule("IDEM-005", r"error is DUPLICATE_SEQUENCE_NUMBER \(46\)", ARepeatedBatchIsAnError),
    rule("IDEM-005", r"once more: acknowledged at offset \d",
         ARepeatedBatchIsToldWhereTheLastStands),
    rule("IDEM-005", r"from sequence \d+ once more: acknowledged at offset 214748365\d",
         ARepeatedBatchIsCountedBack),
    rule("IDEM-006", r"refused, yet the log grew", WhatIsForgottenIsStoredAgain),
    rule("IDEM-007", rf"\d records from sequence \d, .*: {TAKEN}", TheFirstSequenceDecides),
    changed_field("IDEM-008", "an_older_epoch_is_fenced",
        r"error is PRODUCER_FENCED \(90\), expected INVALID_PRODUCER_EPOCH",
        "The broker answers an older epoch with the error that ends a producer for good (KIP-588).",
        ProduceResponse, "responses.partition_responses.error_code",
        ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED),
    rule("IDEM-009", rf"epoch 1, sequence 2: {TAKEN}", AHigherEpochGoesOn),
    rule("IDEM-027",
         r"a raised epoch .*: error is INVALID_PRODUCER_EPOCH \(47\), expected NONE",
         ARefusedEpochFences),
    rule("IDEM-010", rf"then 0: {REFUSED}", SequencesEndAtTheLast),
    rule("IDEM-011", r"error is NONE \(0\), expected INVALID_RECORD", ASequenceMayBeNegative),
    rule("IDEM-013", rf"partition 1, sequence 0: {REFUSED}", PartitionsShareTheirSequences),
    rule("IDEM-014", r"below are deleted: error is UNKNOWN_PROD", AProducerGoesWithItsRecords),
    rule("IDEM-014", rf"behind \d deleted: {TAKEN}", AForgottenProducerStartsAnywhere),
    replace(
        rule("IDEM-015", r"not within \d+ ms: a producer that wrote", ProducersAreKeptForEver),
        private=True,
    ),
    replace(
        rule("IDEM-015", r"a gap behind \d+ batches: error is NONE", AnActiveProducerExpires),
        private=True,
    ),
    rule("IDEM-018", rf"sequence 2 in flight: {TAKEN}", WhatIsInFlightCounts),
    the_next_sequence_is_told,
]  # fmt: skip

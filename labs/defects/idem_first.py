"""Defects of area IDEM: the first sequence of a producer that a partition does not know."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from labs.defects.defect import rule
from labs.defects.idem_sequences import (
    OUT_OF_ORDER,
    REFUSED,
    Answer,
    LooksAtBatches,
    SentBatch,
    acknowledge,
    refuse,
)


class AnEpochAlwaysStartsAtZero(LooksAtBatches):
    """The broker requires sequence 0 from a raised epoch, even of a producer it does not know."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch.epoch > 0 and batch.first != 0 and not before

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        refuse(answer, OUT_OF_ORDER)


class AnEmptyLogStartsAtZero(LooksAtBatches):
    """The broker requires sequence 0 for the first record of a log (KAFKA-15591)."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch.first != 0 and not before

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        if answer.base_offset == 0:
            refuse(answer, OUT_OF_ORDER)


class AnUnknownProducerStartsAnywhere(LooksAtBatches):
    """The broker accepts any first sequence of a producer that it does not know (KIP-360)."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch.first != 0

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        acknowledge(answer, ErrorCode.UNKNOWN_PRODUCER_ID)


DEFECTS = [
    rule("IDEM-003", rf"epoch 3, sequence 7: {REFUSED}", AnEpochAlwaysStartsAtZero),
    rule(
        "IDEM-033",
        rf"empty log, epoch \d, sequence \d+: {REFUSED}",
        AnEmptyLogStartsAtZero,
    ),
    replace(
        rule(
            "IDEM-034",
            r"a log with (no|a) record, sequence \d+: error is NONE \(0\), expected OUT_OF_ORDER",
            AnUnknownProducerStartsAnywhere,
        ),
        also=("IDEM-010",),  # which needs a high first sequence
    ),
]

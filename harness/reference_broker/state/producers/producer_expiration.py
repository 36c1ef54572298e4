"""The rules by which a partition remembers producers, each with the releases that have it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.codec.error_code import ErrorCode

REMEMBERED_BATCHES = 5


@dataclass(frozen=True, slots=True)
class ProducerExpiration:
    """The expiration of a producer: `idle_ms` after its last batch, at the next check (KIP-854).

    `with_its_records`: also when none of its records is left (up to 2.3, KAFKA-7190). `goes_on`: a
    forgotten producer may continue with any sequence, not only with 0 (since 2.5, KAFKA-8710).
    `last_only`: no batch but the last one is remembered, a marker of the same epoch takes its place
    as a batch of one record with its last sequence (KAFKA-5494), and no error is for forgotten
    producers alone (KAFKA-5793), all that up to 0.11.
    `empty_count`: a transaction without records here begins at its marker, and is listed if it was
    aborted (up to 2.7, KAFKA-10702). `fences_offsets`: offsets in a transaction are refused for an
    earlier epoch, too (since 2.5, KAFKA-9144).
    """

    idle_ms: int
    check_interval_ms: int
    with_its_records: bool = False
    goes_on: bool = True
    last_only: bool = False
    empty_count: bool = False
    fences_offsets: bool = True

    @property
    def unknown(self) -> ErrorCode:
        """The error of a forgotten producer that may not go on."""
        if self.last_only:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return ErrorCode.UNKNOWN_PRODUCER_ID

    @property
    def batches(self) -> int:
        """The number of a producer's last batches by which repeated ones are found."""
        return 1 if self.last_only else REMEMBERED_BATCHES

"""The table of damages, by what they strike."""

from labs.recovery.case import Kind
from labs.recovery.damages import (
    batches,
    checkpoints,
    epochs,
    indexes,
    leftovers,
    producers,
    segments,
)

KINDS: tuple[Kind, ...] = (
    *batches.KINDS,
    *segments.KINDS,
    *indexes.KINDS,
    *producers.KINDS,
    *epochs.KINDS,
    *checkpoints.KINDS,
    *leftovers.KINDS,
)

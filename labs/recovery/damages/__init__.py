"""The table of damages, by what they strike."""

from labs.recovery.case import KindOfDamage
from labs.recovery.damages import (
    batches,
    checkpoints,
    epochs,
    indexes,
    leftovers,
    producers,
    segments,
)

KINDS: tuple[KindOfDamage, ...] = (
    *batches.KINDS,
    *segments.KINDS,
    *indexes.KINDS,
    *producers.KINDS,
    *epochs.KINDS,
    *checkpoints.KINDS,
    *leftovers.KINDS,
)

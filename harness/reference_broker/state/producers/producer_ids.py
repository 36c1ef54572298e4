"""Producer ids. Source: classes ProducerIdManager and RPCProducerIdManager; KIP-98, KIP-730."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.base.ids import ProducerEpoch, ProducerId

_ALL = 2**63 - 1
_LOW = 100  # a tenth of a block, as in class RPCProducerIdManager


@dataclass(frozen=True, slots=True)
class ProducerIdentity:
    """A producer id with the epoch to use."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch


class ProducerIds:
    """Gives out each producer id once.

    A standalone broker has all ids; in a cluster they come in blocks, and `on_low` is called when
    the next block is needed.
    """

    __slots__ = ("_blocks", "on_low")

    def __init__(self, *, in_blocks: bool = False) -> None:
        self._blocks = [] if in_blocks else [range(_ALL)]
        self.on_low: Callable[[], None] | None = None

    def new_producer(self) -> ProducerIdentity:
        """Return a new producer id, with epoch 0."""
        return ProducerIdentity(self._new_id(), ProducerEpoch(0))

    def add_block(self, first: int, count: int) -> None:
        """Add a block of ids that the broker may give out."""
        self._blocks.append(range(first, first + count))

    @property
    def is_low(self) -> bool:
        """True if the next block is needed soon."""
        return sum(map(len, self._blocks)) < _LOW

    @property
    def is_empty(self) -> bool:
        """True if there is no id to give out now."""
        return not self._blocks

    def _new_id(self) -> ProducerId:
        block = self._blocks[0]
        self._blocks[:1] = [block[1:]] if len(block) > 1 else []
        if self.on_low is not None and self.is_low:
            self.on_low()
        return ProducerId(block[0])

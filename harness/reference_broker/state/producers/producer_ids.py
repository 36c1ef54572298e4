"""Producer ids and their epochs, for producers with and without a transactional id.

Source: class TransactionCoordinator (handleInitProducerId, prepareInitProducerIdTransit);
KIP-98, KIP-360.
"""

from collections.abc import Callable
from dataclasses import dataclass

from harness.base.ids import ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode

_LAST_EPOCH = 2**15 - 2  # the highest one is kept for fencing
_NO_EPOCH = ProducerEpoch(-1)
_NO_ID = ProducerId(-1)
_REMEMBERED = 10_000
_ALL = 2**63 - 1
_LOW = 100  # a tenth of a block, as in class RPCProducerIdManager


@dataclass(frozen=True, slots=True)
class ProducerIdentity:
    """A producer id with the epoch to use."""

    producer_id: ProducerId
    producer_epoch: ProducerEpoch


@dataclass(slots=True)
class _TransactionalProducer:
    producer_id: ProducerId
    producer_epoch: ProducerEpoch = _NO_EPOCH
    last_producer_epoch: ProducerEpoch = _NO_EPOCH
    previous_producer_id: ProducerId = _NO_ID


class ProducerIds:
    """Gives out each producer id once; remembers the epochs of transactional ids.

    A standalone broker has all ids; in a cluster they come in blocks, and `on_low` is called when
    the next block is needed.

    Kafka forgets transactional ids that were not used for a week; here the longest unused is
    forgotten when there are too many.
    """

    __slots__ = ("_blocks", "_remembered", "_transactional", "on_low")

    def __init__(self, remembered: int = _REMEMBERED, *, in_blocks: bool = False) -> None:
        self._blocks = [] if in_blocks else [range(_ALL)]
        self.on_low: Callable[[], None] | None = None
        self._remembered = remembered
        self._transactional: dict[str, _TransactionalProducer] = {}

    def new_producer(self) -> ProducerIdentity:
        """Return a new producer id, with epoch 0."""
        return ProducerIdentity(self._new_id(), ProducerEpoch(0))

    def init_transactional(
        self, transactional_id: str, expected: ProducerIdentity | None
    ) -> ProducerIdentity | ErrorCode:
        """Return the next epoch of a transactional id, which fences the producer with the former
        one.

        `expected` is the identity that the producer believes to have (KIP-360); if it is wrong, the
        result is PRODUCER_FENCED.
        """
        producer = self._transactional.pop(transactional_id, None)
        if producer is None:
            producer = _TransactionalProducer(self._new_id())
        self._transactional[transactional_id] = producer  # behind those unused for longer
        if len(self._transactional) > self._remembered:
            del self._transactional[next(iter(self._transactional))]
        if expected is not None and not _may_be(producer, expected):
            return ErrorCode.PRODUCER_FENCED
        is_current = expected is None or expected.producer_epoch == producer.producer_epoch
        if producer.producer_epoch >= _LAST_EPOCH and is_current:
            self._rotate(producer)
        elif producer.producer_epoch == _NO_EPOCH or is_current:
            producer.last_producer_epoch = (
                _NO_EPOCH if expected is None else producer.producer_epoch
            )
            producer.producer_epoch = ProducerEpoch(producer.producer_epoch + 1)
        elif expected is not None and expected.producer_epoch != producer.last_producer_epoch:
            return ErrorCode.PRODUCER_FENCED
        # else: the answer to the same bump was lost, it is given once more
        return ProducerIdentity(producer.producer_id, producer.producer_epoch)

    def current(self, transactional_id: str) -> ProducerIdentity | None:
        """Return the current identity of a transactional id; None if it has none."""
        producer = self._transactional.get(transactional_id)
        if producer is None:
            return None
        return ProducerIdentity(producer.producer_id, producer.producer_epoch)

    def _rotate(self, producer: _TransactionalProducer) -> None:
        producer.previous_producer_id = producer.producer_id
        producer.last_producer_epoch = producer.producer_epoch
        producer.producer_id = self._new_id()
        producer.producer_epoch = ProducerEpoch(0)

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


def _may_be(producer: _TransactionalProducer, expected: ProducerIdentity) -> bool:
    return (
        producer.producer_epoch == _NO_EPOCH
        or expected.producer_id == producer.producer_id
        or (
            expected.producer_id == producer.previous_producer_id
            and expected.producer_epoch >= _LAST_EPOCH
        )
    )

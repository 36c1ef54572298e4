"""Records wait until the replicas of their coordinator know that the transaction has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.base.ids import BrokerId, Offset
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.reference_broker.handlers import api_00_produce
from harness.reference_broker.handlers.outcome import Advertised, Outcome, RequestContext
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
    ids_of,
)
from harness.reference_broker.state.transactions.initializing import initialize
from tests.reference_broker.made_controller import CHANCE, broker
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    PLACE,
    TIMEOUT_MS,
    known,
    made_state,
    partition_of,
)
from tests.reference_broker.test_replicated_answers import result, waits

FOLLOWER, MOVED_EPOCH = 2, 1
ADDS_PARTITIONS = 12


class _Coordinator:
    """A broker that leads a partition, and coordinates; a follower has half of its own log."""

    def __init__(self) -> None:
        self.state: BrokerState = made_state()
        self.state.is_member = True
        given = initialize(self.state.transactions, NAME, TIMEOUT_MS, None, NOW)
        assert isinstance(given, ProducerIdentity)
        self.producer = given
        self.lead(self.state.cluster.host.own)

    @property
    def log(self) -> Partition:
        found = self.state.transactions.log.partition_of(NAME)
        assert found is not None
        return found

    def lead(self, leader: int, epoch: int = 0) -> None:
        own = self.state.cluster.host.own
        self.state.brokers.put(broker(FOLLOWER))
        now = self.log.registration
        both = ids_of((own, FOLLOWER))
        self.log.register(
            PartitionRegistration(
                both, both, BrokerId(leader), type(now.leader_epoch)(epoch), now.partition_epoch + 1
            ),
            NOW,
        )

    def replicate(self) -> None:
        end = self.log.log.end_offset
        self.log.fetched_by(BrokerId(FOLLOWER), Offset(end), Offset(0), 10 * FOLLOWER, NOW)

    def produce(self) -> Outcome:
        batch = RecordBatch(
            [Record(b"v")],
            base_timestamp=NOW,
            attributes=TRANSACTIONAL,
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            base_sequence=0,
        )
        data = ProduceRequest.PartitionProduceData(index=PLACE[1], records=encode_batch(batch))
        topic = ProduceRequest.TopicProduceData(name=PLACE[0], partition_data=[data])
        request = ProduceRequest(
            transactional_id=NAME, acks=-1, timeout_ms=3_000, topic_data=[topic]
        )
        context = RequestContext(
            ADDS_PARTITIONS, None, 0, self.state, Advertised(()), lambda: NOW, CHANCE, []
        )
        return api_00_produce.handle(request, context)


def test_records_are_appended_when_the_replicas_have_the_added_partition() -> None:
    made = _Coordinator()
    waiting = waits(made.produce())
    assert known(made.state.transactions).places == {PLACE}
    assert partition_of(made.state).log.end_offset == 0
    assert (made.log.topic_id, made.log.index) in waiting.keys
    made.replicate()
    assert result(waiting.attempt()) == (ErrorCode.NONE, 0)
    assert partition_of(made.state).log.end_offset == 1


def _is_replaced(made: _Coordinator, waiting: Any) -> Any:
    made.lead(FOLLOWER, MOVED_EPOCH)
    return waiting.attempt()


def _is_late(made: _Coordinator, waiting: Any) -> Any:
    del made
    return waiting.at_deadline()


@pytest.mark.parametrize("happens", [_is_replaced, _is_late])
def test_no_record_is_appended_if_the_replicas_may_lack_the_added_partition(
    happens: Callable[[_Coordinator, Any], Any],
) -> None:
    made = _Coordinator()
    answer = happens(made, waits(made.produce()))
    assert result(answer) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
    assert partition_of(made.state).log.end_offset == 0


def test_a_repeated_request_waits_as_well() -> None:
    made = _Coordinator()
    waits(made.produce())
    again = waits(made.produce())
    made.replicate()
    assert result(again.attempt()) == (ErrorCode.NONE, 0)

"""TXN: what a coordinator writes for a transactional id counts on all replicas in sync (KIP-98)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    InitProducerIdResponse,
)
from harness.codec.structs import Message, Request
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.partition import WatchedPartition
from suites.protocol.support.config_admin import TOPIC, prepare_key
from suites.protocol.support.transactional import (
    FIRST_OF_SEVERAL,
    NEWER,
    TxnProducer,
    codes_by_place,
)
from suites.replication.support.followed_logs import followed_log, let_follower_lead

LOG = "__transaction_state"
TIMEOUT_MS, LONG_MS, HELD_MS = 3_000, 60_000, 1_000
ONE_LOG = {
    "transaction.state.log.num.partitions": "1",
    "replica.lag.time.max.ms": "60000",
    "offsets.commit.timeout.ms": str(HELD_MS // 2),
}
"""All transactional ids are in partition 0; its follower may be behind for the whole test. The
timeout of commits does not count here."""


@dataclass(frozen=True)
class PendingState:
    """A request that was sent, and the function that returns all error codes of its answer."""

    name: str
    connection: Connection
    codes: Callable[[Message], Iterable[int]]

    def expect(self, code: ErrorCode, told: str) -> None:
        """The answer has this error and no other."""
        found = sorted(set(self.codes(self.connection.receive())))
        names = [ErrorCode.describe(each) for each in found]
        assert found == [code], f"{self.name}, {told}: error is {', '.join(names) or 'absent'}"


def _code(answer: Message) -> list[int]:
    assert isinstance(answer, InitProducerIdResponse | AddOffsetsToTxnResponse)
    return [answer.error_code]


def _codes_of_partitions(topics: Iterable[Topic], answer: Message) -> list[int]:
    assert isinstance(answer, AddPartitionsToTxnResponse)
    found = codes_by_place(answer)
    wanted = {(topic.name, 0) for topic in topics}
    assert set(found) == wanted, f"the answer has {sorted(found)}, expected {sorted(wanted)}"
    told = f"the whole answer has the error {ErrorCode.describe(answer.error_code)}"
    assert answer.error_code == ErrorCode.NONE, told
    return list(found.values())


class Idle:
    """Producers without a transaction, each of an id of its own, and what they request next."""

    def __init__(self, broker: BrokerUnderTest, timeout_ms: int) -> None:
        self.broker = broker
        self.producers = [
            TxnProducer(broker, "TXN-077", timeout_ms=timeout_ms, name=broker.unique_topic())
            for _ in range(5)
        ]
        self.topics = [broker.create_topic() for _ in range(3)]
        self.group = broker.unique_group()

    def send(self) -> list[PendingState]:
        """Send a request of each kind; the one of brokers has two transactions (KIP-890)."""
        new, offsets, older, *_ = self.producers
        own = self.topics[0]
        version = older.version("AddPartitionsToTxn")
        sent = [
            _sent(new, "InitProducerId", new.init_request(), _code),
            _sent(offsets, "AddOffsetsToTxn", self._offsets(offsets), _code),
            _sent(
                older,
                "AddPartitionsToTxn",
                older.add_request({own: [0]}, version),
                partial(_codes_of_partitions, [own]),
                version,
            ),
        ]
        return [*sent, self._send_several()] if self.states > len(sent) else sent

    @property
    def states(self) -> int:
        """The number of states that the requests write."""
        highest = self.broker.advertised("AddPartitionsToTxn").highest
        return len(self.producers) if highest >= FIRST_OF_SEVERAL else len(self.producers) - 2

    def _send_several(self) -> PendingState:
        version = self.broker.version("AddPartitionsToTxn", NEWER["AddPartitionsToTxn"])
        producers, topics = self.producers[3:], self.topics[1:]
        several = AddPartitionsToTxnRequest(
            transactions=[
                producer.add_request({topic: [0]}, version).transactions[0]
                for producer, topic in zip(producers, topics, strict=True)
            ]
        )
        codes = partial(_codes_of_partitions, topics)
        return _sent(producers[0], "AddPartitionsToTxn", several, codes, version)

    def _offsets(self, producer: TxnProducer) -> AddOffsetsToTxnRequest:
        return AddOffsetsToTxnRequest(
            transactional_id=producer.name,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            group_id=self.group,
        )


def _sent(
    producer: TxnProducer,
    api_name: str,
    request: Request[Message],
    codes: Callable[[Message], Iterable[int]],
    version: int | None = None,
) -> PendingState:
    version = producer.version(api_name) if version is None else version
    producer.connection.send(request, version)
    return PendingState(f"{api_name} v{version}", producer.connection, codes)


def _written(log: WatchedPartition, idle: Idle) -> list[PendingState]:
    """Send the requests, and wait until the leader's log has the states of all ids."""
    end = log.log_end()
    waiting = idle.send()
    written = end + idle.states
    log.broker.eventually(lambda: log.log_end() >= written, "the states are written")
    return waiting


@judges("TXN-077")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_states_of_transactional_ids_wait_for_replicas(peers: JoinedCluster) -> None:
    """The follower in sync fetches the states after a while."""
    idle, follower = Idle(peers.broker, LONG_MS), peers.join()
    log = followed_log(peers, follower, LOG)
    waiting = _written(log, idle)
    with requirement("TXN-077") as check:
        for each in waiting:
            with check.subtest(f"{each.name} waits"):
                each.connection.expect_silence(for_ms=HELD_MS // len(waiting))
        log.follow(follower, log.log_end())
        for each in waiting:
            with check.subtest(each.name):
                each.expect(ErrorCode.NONE, "the follower has the state")


@judges("TXN-077")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_states_of_transactional_ids_fail_where_replicas_lack_them_in_time(
    peers: JoinedCluster,
) -> None:
    """The follower in sync does not fetch until the timeout of the transactions is over."""
    idle, follower = Idle(peers.broker, TIMEOUT_MS), peers.join()
    log = followed_log(peers, follower, LOG)
    waiting = _written(log, idle)
    with requirement("TXN-077") as check:
        for each in waiting:
            with check.subtest(each.name):
                each.expect(ErrorCode.COORDINATOR_NOT_AVAILABLE, "the follower does not fetch")


@judges("TXN-077")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_states_of_transactional_ids_fail_where_another_broker_becomes_coordinator(
    peers: JoinedCluster,
) -> None:
    """The follower in sync does not fetch the states, and becomes the leader of the log."""
    idle, follower = Idle(peers.broker, LONG_MS), peers.join()
    log = followed_log(peers, follower, LOG)
    waiting = _written(log, idle)
    let_follower_lead(log, follower)
    with requirement("TXN-077") as check:
        for each in waiting:
            with check.subtest(each.name):
                each.expect(ErrorCode.NOT_COORDINATOR, "the coordinator has changed")


@judges("TXN-077")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_states_of_transactional_ids_fail_where_too_few_replicas_are_in_sync(
    peers: JoinedCluster,
) -> None:
    """Two replicas have to be in sync; the follower leaves the ISR, before and after a write."""
    idle, later = (Idle(peers.broker, TIMEOUT_MS) for _ in range(2))
    follower = peers.join()
    log = followed_log(peers, follower, LOG)
    prepare_key(peers.broker, (TOPIC, LOG), "min.insync.replicas", "2")
    waiting = _written(log, idle)
    follower.leave()
    log.await_isr(peers.leader)
    end = log.log_end()
    with requirement("TXN-077") as check:
        for each in waiting:
            with check.subtest(each.name):
                each.expect(ErrorCode.COORDINATOR_NOT_AVAILABLE, "one of two is in sync")
        for each in later.send():
            with check.subtest(f"{each.name} later"):
                each.expect(ErrorCode.COORDINATOR_NOT_AVAILABLE, "one of two was in sync before")
        assert log.log_end() == end, f"refused states take the log from {end} to {log.log_end()}"

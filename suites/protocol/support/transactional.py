"""A transactional producer (KIP-98): each request at an exact version, and its whole answer.

Transactions have two forms. In the older one the client adds each partition, and all transactions
share an epoch; in the newer one (KIP-890) Produce v12 and TxnOffsetCommit v5 add what they write
to, and EndTxn v5 returns the epoch of the next transaction.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.coordinator import TRANSACTION, await_coordinator, coordinated_name
from harness.client.only import only
from harness.client.preparing import preparing
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceResponse,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.codec.structs import Message, Request
from suites.protocol.support.appended import now_ms
from suites.protocol.support.committed_offsets import Place
from suites.protocol.support.internal_topics import NOT_YET

OLDER = {"AddPartitionsToTxn": "0-3", "Produce": "3-11", "EndTxn": "0-4", "TxnOffsetCommit": "0-4"}
NEWER = {"AddPartitionsToTxn": "4+", "Produce": "12+", "EndTxn": "5+", "TxnOffsetCommit": "5+"}
"""Versions of a client in each form of transactions."""
BEFORE_TWO_PHASES = "0-5"  # of InitProducerId (KIP-939)
FIRST_OF_SEVERAL = 4  # of AddPartitionsToTxn: several transactions in a request
FIRST_WITH_FENCED = {
    "AddPartitionsToTxn": 2,
    "AddOffsetsToTxn": 2,
    "EndTxn": 2,
    "InitProducerId": 4,
}
"""From these versions on a former epoch gives PRODUCER_FENCED (KIP-588)."""
NO_ID = -1
TIMEOUT_MS = 60_000
FAR_AHEAD = 100
"""A distance of sequences or epochs that no retry explains."""
EXPIRING = {
    "transactional.id.expiration.ms": "500",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "2000",
}
"""Settings of a broker that soon forgets transactional ids without a transaction."""
NOT_READY = {*NOT_YET, ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_ENOUGH_REPLICAS}
BUSY = {*NOT_READY, ErrorCode.CONCURRENT_TRANSACTIONS}
"""Errors after which a producer sends the same request again."""
Partitions = Mapping[Topic, Sequence[int]]
M = TypeVar("M", bound=Message)


def fenced_code(api_name: str, version: int) -> ErrorCode:
    """The error for a former epoch at this version."""
    is_new = version >= FIRST_WITH_FENCED[api_name]
    return ErrorCode.PRODUCER_FENCED if is_new else ErrorCode.INVALID_PRODUCER_EPOCH


class TxnProducer:
    """A new transactional id and its current producer id and epoch, on one connection.

    ``newer``: the form of its transactions, see the module. Methods that prepare raise
    PreparationFailed; the others return the answer, after a bounded wait for a busy coordinator.
    """

    def __init__(
        self,
        broker: BrokerUnderTest,
        client_id: str,
        *,
        timeout_ms: int = TIMEOUT_MS,
        newer: bool = False,
        name: str | None = None,
    ) -> None:
        """Get the producer id; by default for a name that the broker coordinates.

        Raises ApiNotAdvertised where the broker lacks transactions.
        """
        for api_name in ("AddPartitionsToTxn", "EndTxn"):
            broker.version(api_name)
        self.broker, self.newer, self.timeout_ms = broker, newer, timeout_ms
        self._forms = NEWER if newer else OLDER
        with preparing("a transactional id"):
            await_coordinator(broker, TRANSACTION)
            self.name = coordinated_name(broker, TRANSACTION) if name is None else name
            await_coordinator(broker, TRANSACTION, self.name)
        self.client_id, self.connection = client_id, broker.connect(client_id)
        self.id, self.epoch = NO_ID, NO_ID
        self.sequences: Counter[Place] = Counter()
        self.partitions: set[tuple[Topic, int]] = set()
        with preparing("InitProducerId"):
            answer = self.init()
        _require(answer.error_code, "InitProducerId")
        self.take(answer)

    def version(self, api_name: str) -> int:
        """The highest version in the form of these transactions."""
        return self.broker.version(api_name, self._forms.get(api_name, BEFORE_TWO_PHASES))

    def take(self, answer: InitProducerIdResponse | EndTxnResponse) -> None:
        """Continue with the producer id and the epoch of an answer, without a transaction."""
        if (answer.producer_id, answer.producer_epoch) != (self.id, self.epoch):
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
            self.partitions.clear()

    def other(
        self, *, name: str | None = None, id_: int | None = None, epoch: int | None = None
    ) -> TxnProducer:
        """A producer on the same connection that differs in these values."""
        one = copy.copy(self)
        one.name = self.name if name is None else name
        one.id = self.id if id_ is None else id_
        one.epoch = self.epoch if epoch is None else epoch
        one.sequences, one.partitions = Counter(), set()
        return one

    def through(self, broker: BrokerUnderTest) -> TxnProducer:
        """The same producer on a connection to another broker."""
        one = copy.copy(self)
        one.broker, one.connection = broker, broker.connect(self.client_id)
        return one

    # -- answers ---------------------------------------------------------------------------------

    def patiently(
        self, request: Request[M], version: int, codes: Callable[[M], Iterable[int]]
    ) -> M:
        """Send the request until no code of the answer is of a busy coordinator; the last one."""
        return self.broker.last_seen(
            lambda: self.connection.ask(request, version),
            lambda answer: not BUSY & set(codes(answer)),
        )

    def init_request(self) -> InitProducerIdRequest:
        """A request of a new producer, without an identity."""
        return InitProducerIdRequest(
            transactional_id=self.name,
            transaction_timeout_ms=self.timeout_ms,
            producer_id=NO_ID,
            producer_epoch=NO_ID,
        )

    def init(self, version: int | None = None) -> InitProducerIdResponse:
        """The answer to a new producer of this transactional id."""
        version = self.version("InitProducerId") if version is None else version
        return self.patiently(self.init_request(), version, lambda answer: [answer.error_code])

    def add_request(self, partitions: Partitions, version: int) -> AddPartitionsToTxnRequest:
        """A request for these partitions; from v4 on for a list of one transaction."""
        topics = [
            AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
                name=topic.name, partitions=list(indexes)
            )
            for topic, indexes in partitions.items()
        ]
        if version < FIRST_OF_SEVERAL:
            return AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.name,
                v3_and_below_producer_id=self.id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=topics,
            )
        transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch,
            verify_only=False,
            topics=topics,
        )
        return AddPartitionsToTxnRequest(transactions=[transaction])

    def add(self, partitions: Partitions, version: int) -> dict[Place, int]:
        """The error of each partition that the request adds."""
        request = self.add_request(partitions, version)
        return codes_by_place(
            self.patiently(request, version, lambda answer: codes_by_place(answer).values())
        )

    def batch(self, first: int, values: Sequence[bytes], attributes: int = TRANSACTIONAL) -> bytes:
        """A batch with a record for each value; the first has this sequence number."""
        return encode_batch(
            RecordBatch(
                [Record(value) for value in values],
                base_timestamp=now_ms(),
                attributes=attributes,
                producer_id=self.id,
                producer_epoch=self.epoch,
                base_sequence=first,
            )
        )

    def send(
        self,
        topic: Topic,
        *values: bytes,
        partition: int = 0,
        version: int | None = None,
        attributes: int = TRANSACTIONAL,
    ) -> ProduceResponse.PartitionProduceResponse:
        """The answer to a batch with the next sequence numbers, which only success uses up."""
        version = self.version("Produce") if version is None else version
        place = (topic.name, partition)
        data = self.batch(self.sequences[place], values, attributes)
        request = produce_request(topic, data, version, partition=partition)
        request.transactional_id = self.name if attributes & TRANSACTIONAL else None
        answer = self.patiently(request, version, lambda answer: [_partition_of(answer).error_code])
        found = _partition_of(answer)
        if found.error_code == ErrorCode.NONE:
            self.sequences[place] += len(values)
        return found

    def end_request(self, commit: bool) -> EndTxnRequest:
        """A request to commit or abort the transaction."""
        return EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch,
            committed=commit,
        )

    def end(self, *, commit: bool, version: int | None = None) -> EndTxnResponse:
        """The answer to a commit or an abort."""
        version = self.version("EndTxn") if version is None else version
        request = self.end_request(commit)
        return self.patiently(request, version, lambda answer: [answer.error_code])

    # -- preparation -----------------------------------------------------------------------------

    def begin(self, partitions: Partitions) -> None:
        """Add these partitions to the transaction; in the newer form batches do."""
        if not self.newer:
            version = self.version("AddPartitionsToTxn")
            with preparing("AddPartitionsToTxn"):
                found = self.add(partitions, version)
            for code in found.values():
                _require(code, "AddPartitionsToTxn")
        self.partitions |= {(topic, at) for topic, indexes in partitions.items() for at in indexes}

    def write(self, topic: Topic, *values: bytes, partition: int = 0) -> int:
        """Append a batch in the transaction, which gets the partition; its first offset."""
        if (topic, partition) not in self.partitions:
            self.begin({topic: [partition]})
        with preparing("Produce in a transaction"):
            answer = self.send(topic, *values, partition=partition)
        _require(answer.error_code, "Produce in a transaction")
        return answer.base_offset

    def finish(self, *, commit: bool, version: int | None = None) -> None:
        """Commit or abort, and wait until each partition has the marker."""
        with preparing("EndTxn"):
            ends = [(place, self.broker.end_offset(*place)) for place in self.partitions]
            answer = self.end(commit=commit, version=version)
            _require(answer.error_code, "EndTxn")
            for place, end in ends:
                self.broker.eventually(
                    lambda at=place, end=end: self.broker.end_offset(*at) > end,  # type: ignore[misc]
                    f"{place[0].name}-{place[1]} has a marker",
                )
        self.partitions.clear()
        if answer.producer_epoch != NO_ID:
            self.take(answer)


def _partition_of(answer: ProduceResponse) -> ProduceResponse.PartitionProduceResponse:
    return only(only(answer.responses, "topic").partition_responses, "partition")


def codes_by_place(answer: AddPartitionsToTxnResponse) -> dict[Place, int]:
    """The error of each partition, in either form of the answer."""
    topics = list(answer.results_by_topic_v3_and_below)
    for transaction in answer.results_by_transaction:
        topics += transaction.topic_results
    return {
        (topic.name, one.partition_index): one.partition_error_code
        for topic in topics
        for one in topic.results_by_partition
    }


def _require(code: int, what: str) -> None:
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"{what}: {ErrorCode.describe(code)}", code)

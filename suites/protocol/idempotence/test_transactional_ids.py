"""TXN, IDEM: the producer id and the epochs of a transactional id (KIP-98, KIP-360)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.coordinator import TRANSACTION, await_coordinator, coordinated_name
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import code_of
from suites.protocol.support.internal_topics import NOT_YET

NONE = -1
TIMEOUT_MS, LONGEST_TIMEOUT_MS = 60_000, 900_000  # the default of transaction.max.timeout.ms
FIRST_WITH_IDENTITY, FIRST_WITH_FENCED = 3, 4
ANY_EPOCH = 77
ADDED_BY_CLIENT, BEFORE_TWO_PHASES = "0-3", "0-5"  # of AddPartitionsToTxn and InitProducerId
FIRST_WITH_ABORTABLE = 11  # of Produce (KIP-890)
BUSY = {
    *NOT_YET,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NOT_ENOUGH_REPLICAS,  # of Produce: the coordinator is not ready
}
Identity = tuple[int, int]
"""Producer id and epoch."""
NOBODY: Identity = (NONE, NONE)


class _TransactionalId:
    """A new transactional id, whose producers all use one connection."""

    def __init__(self, broker: BrokerUnderTest, client_id: str) -> None:
        await_coordinator(broker, TRANSACTION)
        self.name = coordinated_name(broker, TRANSACTION)
        await_coordinator(broker, TRANSACTION, self.name)
        self._broker, self._connection = broker, broker.connect(client_id)

    def init(
        self, version: int, identity: Identity = NOBODY, timeout_ms: int = TIMEOUT_MS
    ) -> InitProducerIdResponse:
        """Call InitProducerId until the coordinator is ready. Return the answer."""
        request = InitProducerIdRequest(
            transactional_id=self.name,
            transaction_timeout_ms=timeout_ms,
            producer_id=identity[0],
            producer_epoch=identity[1],
        )
        return self._broker.eventually(
            lambda: _unless_busy(self._connection, request, version),
            "the coordinator answers InitProducerId",
        )

    def expect(
        self, version: int, expected: Identity, where: str, identity: Identity = NOBODY
    ) -> None:
        """Call InitProducerId: this producer id and epoch are returned."""
        answer = self.init(version, identity)
        expect_error(answer.error_code, ErrorCode.NONE, where)
        found = (answer.producer_id, answer.producer_epoch)
        assert found == expected, f"{where}: id and epoch are {found}, expected {expected}"

    def expect_fenced(self, version: int, identity: Identity, where: str) -> None:
        """Call InitProducerId with the identity of a former producer."""
        answer = self.init(version, identity)
        is_new = version >= FIRST_WITH_FENCED
        code = ErrorCode.PRODUCER_FENCED if is_new else ErrorCode.INVALID_PRODUCER_EPOCH
        expect_error(answer.error_code, code, where)
        found = (answer.producer_id, answer.producer_epoch)
        assert found == NOBODY, f"{where}: id and epoch beside the error are {found}"


def _unless_busy(
    connection: Connection, request: InitProducerIdRequest, version: int
) -> InitProducerIdResponse | None:
    answer = connection.ask(request, version)
    return None if answer.error_code in BUSY else answer


@judges("TXN-001")
@at_versions("InitProducerId")
def test_new_transactional_id_gets_producer_id_with_epoch_0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two transactional ids: other producer ids, both with epoch 0."""
    names = [_TransactionalId(broker, "TXN-001") for _ in range(2)]
    with requirement("TXN-001"):
        one, other = (_checked(name.init(api_version)) for name in names)
        assert one != other, f"two transactional ids have the producer id {one}"


def _checked(answer: InitProducerIdResponse) -> int:
    """Return the producer id of an answer without an error and with epoch 0."""
    expect_error(answer.error_code, ErrorCode.NONE)
    found = (answer.producer_id, answer.producer_epoch)
    assert found == (max(answer.producer_id, 0), 0), f"producer id and epoch are {found}"
    return answer.producer_id


@judges("TXN-002")
@at_versions("InitProducerId")
def test_transactional_id_keeps_producer_id_and_raises_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three calls, with one for another transactional id between them; then the first is fenced.

    The fence shows where the broker takes an identity in InitProducerId (KIP-360).
    """
    name, other = (_TransactionalId(broker, "TXN-002") for _ in range(2))
    first = name.init(api_version).producer_id
    elsewhere = other.init(api_version).producer_id
    with requirement("TXN-002"):
        name.expect(api_version, (first, 1), "the second call")
        other.expect(api_version, (elsewhere, 1), "the second call for another transactional id")
        name.expect(api_version, (first, 2), "the third call")
        newest = broker.version("InitProducerId")
        if newest >= FIRST_WITH_IDENTITY:
            name.expect_fenced(newest, (first, 0), "the producer of the first call")


@judges("TXN-003")
@at_versions("InitProducerId")
def test_init_producer_id_refuses_empty_transactional_id_and_wrong_timeouts(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The shortest and the longest timeout are taken, one less and one more are not.

    A refused call changes nothing: the epoch counts the others alone, also at a known id.
    """
    named, empty = (_TransactionalId(broker, "TXN-003") for _ in range(2))
    empty.name = ""
    wrong = ErrorCode.INVALID_TRANSACTION_TIMEOUT
    with requirement("TXN-003") as check:
        for where, one, timeout_ms, code in (
            ("an empty id", empty, TIMEOUT_MS, ErrorCode.INVALID_REQUEST),
            ("timeout 0", named, 0, wrong),
            ("timeout -1", named, -1, wrong),
            ("too long a timeout", named, LONGEST_TIMEOUT_MS + 1, wrong),
            ("the shortest timeout", named, 1, ErrorCode.NONE),
            ("the longest timeout", named, LONGEST_TIMEOUT_MS, ErrorCode.NONE),
            ("timeout 0 of a known id", named, 0, wrong),
            ("too long a timeout of a known id", named, LONGEST_TIMEOUT_MS + 1, wrong),
        ):
            with check.subtest(where):
                answer = one.init(api_version, timeout_ms=timeout_ms)
                expect_error(answer.error_code, code, where)
                has_id = answer.producer_id >= 0
                assert has_id == (code == ErrorCode.NONE), f"{where}: id {answer.producer_id}"
        with check.subtest("the epoch after two accepted calls"):
            epoch = named.init(api_version).producer_epoch
            assert epoch == 2, f"two calls were accepted before: epoch {epoch}, expected 2"


@judges("TXN-005")
@at_versions("InitProducerId", "3+")
def test_current_identity_gets_next_epoch_and_stale_epoch_is_fenced(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Epoch 0 is stale where a producer without an identity, or one with it, has raised it.

    The producer id of another transactional id is fenced, too, and changes nothing.
    """
    name, other = (_TransactionalId(broker, "TXN-005") for _ in range(2))
    first = name.init(api_version).producer_id
    elsewhere = other.init(api_version).producer_id
    with requirement("TXN-005") as check:
        name.expect(api_version, (first, 1), "the current identity", (first, 0))
        name.expect(api_version, (first, 2), "another producer")
        for epoch in (1, 0):
            with check.subtest(f"epoch {epoch}"):
                where = f"epoch {epoch}, the current one is 2"
                name.expect_fenced(api_version, (first, epoch), where)
        for epoch in (2, 1, ANY_EPOCH):
            with check.subtest(f"another producer id, epoch {epoch}"):
                where = f"another producer id, epoch {epoch}"
                name.expect_fenced(api_version, (elsewhere, epoch), where)
        with check.subtest("an epoch to come"):
            name.expect_fenced(api_version, (first, 3), "an epoch to come")
        name.expect(api_version, (first, 3), "the current identity, later", (first, 2))
        name.expect_fenced(api_version, (first, 1), "epoch 1, the current one is 3")


@judges("TXN-013")
@at_versions("Produce", "3-10", "11")
def test_transactional_batch_outside_of_transaction_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The producer id and the epoch are right, but no transaction has the partition.

    From v12 on the request adds the partition (TXN-014).
    """
    name, topic = _TransactionalId(broker, "TXN-013"), broker.create_topic()
    given = name.init(broker.version("InitProducerId"))
    with requirement("TXN-013"):
        code = _produced(broker, name, given, topic, api_version)
        expect_error(code, _not_in_transaction(api_version), "no transaction has the partition")
        end = broker.end_offset(topic)
        assert end == 0, f"refused, yet the log ends at {end}, expected 0"


def _not_in_transaction(produce_version: int) -> ErrorCode:
    is_new = produce_version >= FIRST_WITH_ABORTABLE
    return ErrorCode.TRANSACTION_ABORTABLE if is_new else ErrorCode.INVALID_TXN_STATE


def _produced(
    broker: BrokerUnderTest,
    name: _TransactionalId,
    given: InitProducerIdResponse,
    topic: Topic,
    version: int,
    partition: int = 0,
) -> int:
    """Send the first batch of a partition in a transaction, until the coordinator is ready.

    Return the error.
    """
    batch = RecordBatch(
        [Record(b"x")],
        base_timestamp=now_ms(),
        attributes=TRANSACTIONAL,
        producer_id=given.producer_id,
        producer_epoch=given.producer_epoch,
        base_sequence=0,
    )
    request = produce_request(topic, encode_batch(batch), version, partition=partition)
    request.transactional_id = name.name
    return broker.last_seen(
        lambda: code_of(broker.ask(request, version)), lambda code: code not in BUSY
    )


@judges("TXN-013")
@at_versions("Produce", "3-10", "11")
def test_transactional_batch_for_another_partition_than_that_of_transaction_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The open transaction has partition 0 alone; a batch for that one is accepted."""
    version = broker.version("AddPartitionsToTxn", ADDED_BY_CLIENT)
    name, topic = _TransactionalId(broker, "TXN-013"), broker.create_topic(partitions=2)
    given = name.init(broker.version("InitProducerId", BEFORE_TWO_PHASES))
    added = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=topic.name, partitions=[0])
    adding = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=name.name,
        v3_and_below_producer_id=given.producer_id,
        v3_and_below_producer_epoch=given.producer_epoch,
        v3_and_below_topics=[added],
    )
    broker.eventually(lambda: _is_added(broker, adding, version), "a transaction has partition 0")
    with requirement("TXN-013"):
        code = _produced(broker, name, given, topic, api_version, partition=1)
        where = "the transaction has another partition"
        expect_error(code, _not_in_transaction(api_version), where)
        end = broker.end_offset(topic, 1)
        assert end == 0, f"{where}: refused, yet the log ends at {end}, expected 0"
        code = _produced(broker, name, given, topic, api_version, partition=0)
        expect_error(code, ErrorCode.NONE, "the transaction has the partition")


def _is_added(broker: BrokerUnderTest, request: AddPartitionsToTxnRequest, version: int) -> bool:
    answer = broker.ask(request, version)
    (topic,) = answer.results_by_topic_v3_and_below
    (partition,) = topic.results_by_partition
    return partition.partition_error_code == ErrorCode.NONE


@judges("IDEM-026")
@at_versions("InitProducerId", "3+")
def test_identity_sent_again_gets_same_epoch(broker: BrokerUnderTest, api_version: int) -> None:
    """The same request twice, as after a lost answer; then the identity that it returned."""
    name = _TransactionalId(broker, "IDEM-026")
    first = name.init(api_version).producer_id
    for epoch in range(2):
        for where in ("sent first", "sent again", "sent a third time"):
            told = f"epoch {epoch} {where}"
            with requirement("IDEM-026"):
                name.expect(api_version, (first, epoch + 1), told, (first, epoch))

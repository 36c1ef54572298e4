"""TXN: InitProducerId during a transaction, and at the end of all epochs (KIP-98, KIP-360)."""

from __future__ import annotations

import struct

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import InitProducerIdResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    aborted_in,
    fetched,
    markers_of,
    stable_offset,
)
from suites.protocol.support.transactional import (
    NOT_READY,
    TxnProducer,
    fenced_code,
)

MOST_EPOCH = 2**15 - 2  # of a producer: the last one, 2**15 - 1, is for the coordinator
IN_FLIGHT = 500
ANSWER_END = struct.Struct(">hqhx")
"""Error, producer id, epoch and no tagged fields: the end of an answer of v2 and up."""
ANSWER_BYTES = 4 + 1 + 4 + ANSWER_END.size  # correlation id, tagged fields, throttle time
FIRST_WITH_NEW_EPOCH = "5+"  # of EndTxn (KIP-890)
INIT = api_named("InitProducerId")
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS


def _answers_until_done(producer: TxnProducer, version: int) -> list[InitProducerIdResponse]:
    """All answers to InitProducerId, until there is one without CONCURRENT_TRANSACTIONS."""
    answers: list[InitProducerIdResponse] = []

    def asked() -> int:
        answers.append(producer.connection.ask(producer.init_request(), version))
        return answers[-1].error_code

    producer.broker.last_seen(asked, lambda code: code not in {*NOT_READY, CONCURRENT})
    return [answer for answer in answers if answer.error_code not in NOT_READY]


@judges("TXN-004")
@at_versions("InitProducerId")
def test_init_producer_id_aborts_open_transaction_before_it_returns_an_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The first answer is CONCURRENT_TRANSACTIONS without an id; the marker precedes the epoch.

    The former producer is fenced, and what it wrote is aborted. The id of another open transaction
    keeps it.
    """
    producer, other = (TxnProducer(broker, "TXN-004") for _ in range(2))
    topic = broker.create_topic(partitions=2)
    producer.write(topic, b"x")
    other.write(topic, b"y", partition=1)
    with requirement("TXN-004"):
        first, *answers = _answers_until_done(producer, api_version)
        markers = markers_of(producer, topic)
        expect_error(first.error_code, CONCURRENT, "the first answer")
        found = (first.producer_id, first.producer_epoch)
        assert found == (-1, -1), f"the first answer: id and epoch are {found}"
        last = answers[-1] if answers else first
        expect_error(last.error_code, ErrorCode.NONE, "the last answer")
        assert markers == [(1, False)], (
            f"the epoch is returned: the markers (offset, is a commit) are {markers}"
        )
        assert last.producer_id == producer.id, f"producer id {last.producer_id}"
        assert last.producer_epoch > producer.epoch, f"epoch {last.producer_epoch} is not higher"
        version = producer.version("EndTxn")
        refused = producer.end(commit=True, version=version).error_code
        expect_error(refused, fenced_code("EndTxn", version), "commit by the former producer")
        reading = broker.reading_version(topic)
        aborted = aborted_in(fetched(producer, topic, reading, READ_COMMITTED))
        assert aborted == [(producer.id, 0)], f"the aborted transactions are {aborted}"
        stable = stable_offset(producer, topic, 1)
        assert stable == 0, f"the other transaction: last stable offset {stable}, expected 0"


def _epochs(
    connection: Connection, producer: TxnProducer, count: int, version: int
) -> list[tuple[int, int]]:
    """Producer id and epoch of each of so many answers, with several requests on their way.

    All requests are the same bytes, and the last fields of each answer are read from its bytes:
    they are too many to encode and to decode one by one.
    """
    request = frame(encode_request(producer.init_request(), version, 0, producer.client_id))
    found: list[tuple[int, int]] = []
    while len(found) < count:
        sent = min(IN_FLIGHT, count - len(found))
        connection.send_bytes(request * sent)
        for _ in range(sent):
            answer = connection.receive_frame()
            assert len(answer) == ANSWER_BYTES, f"call {len(found)}: {len(answer)} bytes"
            code, id_, epoch = ANSWER_END.unpack(answer[-ANSWER_END.size :])
            expect_error(code, ErrorCode.NONE, f"call {len(found)}")
            found.append((id_, epoch))
    return found


@judges("TXN-006")
def test_exhausted_epochs_give_new_producer_id_with_epoch_0(broker: BrokerUnderTest) -> None:
    """32,766 epochs of one producer id, then epochs 0 and 1 of another one."""
    producer = TxnProducer(broker, "TXN-006")
    first = producer.id
    version = broker.version("InitProducerId", "3-5")
    with requirement("TXN-006", api_key=INIT.key, api_version=version):
        calls = MOST_EPOCH - producer.epoch
        found = _epochs(producer.connection, producer, calls + 2, version)
        expected = [(first, epoch) for epoch in range(producer.epoch + 1, MOST_EPOCH + 1)]
        wrong = [pair for pair in zip(found, expected, strict=False) if pair[0] != pair[1]]
        assert not wrong, f"id and epoch are {wrong[0][0]}, expected {wrong[0][1]}"
        (new, epoch), last = found[-2:]
        assert new != first, f"behind epoch {MOST_EPOCH}: producer id {new} has epoch {epoch}"
        assert epoch == 0, f"behind epoch {MOST_EPOCH}: a new id has epoch {epoch}, expected 0"
        assert last == (new, 1), f"then: id and epoch are {last}, expected {(new, 1)}"


@judges("TXN-057")
@at_versions("EndTxn", FIRST_WITH_NEW_EPOCH)
def test_end_with_last_epoch_returns_new_producer_id_with_epoch_0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A commit with epoch 32766 three times, then an abort of the same; the new id commits."""
    producer, topic = TxnProducer(broker, "TXN-057", newer=True), broker.create_topic()
    calls, version = MOST_EPOCH - producer.epoch, broker.version("InitProducerId", "3-5")
    producer.id, producer.epoch = _epochs(producer.connection, producer, calls, version)[-1]
    producer.write(topic, b"last")
    with requirement("TXN-057"):
        first, again, once_more = (producer.end(commit=True, version=api_version) for _ in range(3))
        opposite = producer.end(commit=False, version=api_version)
        expect_error(first.error_code, ErrorCode.NONE, f"a commit with epoch {MOST_EPOCH}")
        new, epoch = first.producer_id, first.producer_epoch
        assert new != producer.id, f"a commit with epoch {MOST_EPOCH}: the id stays {new}"
        assert epoch == 0, f"a commit with epoch {MOST_EPOCH}: the new id has epoch {epoch}"
        codes = [one.error_code for one in (again, once_more)]
        assert codes == [0, 0], f"the commit again and a third time: the errors are {codes}"
        ids = [(one.producer_id, one.producer_epoch) for one in (again, once_more)]
        assert ids == [(new, 0)] * 2, f"the commit again and a third time: ids, epochs are {ids}"
        expect_error(opposite.error_code, ErrorCode.INVALID_TXN_STATE, "the opposite")
        producer.take(first)
        producer.write(topic, b"new")
        code = producer.end(commit=True, version=api_version).error_code
        expect_error(code, ErrorCode.NONE, "a commit of the new id")
        markers = broker.last_seen(
            lambda: markers_of(producer, topic), lambda found: len(found) == 2
        )
        assert markers == [(1, True), (3, True)], f"the markers are {markers}"

"""TXN: EndTxn, sent again, without a transaction, and with a wrong identity (KIP-98, KIP-890)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import TRANSACTION, coordinated_name
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import EndTxnResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import markers_of, stable_offset
from suites.protocol.support.transactional import TxnProducer, fenced_code

FIRST_WITH_NEW_EPOCH = 5  # of EndTxn (KIP-890)
VERSIONS = ("0-1", "2", "3-4", "5+")  # PRODUCER_FENCED from v2 on, a new epoch from v5 on
HIGHEST_EPOCH = 2**15 - 1
BOTH = pytest.mark.parametrize("commit", [True, False], ids=["commit", "abort"])


def _producer(broker: BrokerUnderTest, client_id: str, version: int) -> TxnProducer:
    return TxnProducer(broker, client_id, newer=version >= FIRST_WITH_NEW_EPOCH)


def _expect_open(producer: TxnProducer, topic: Topic) -> None:
    """The transaction with one record is still open, without a marker."""
    end, stable = producer.broker.end_offset(topic), stable_offset(producer, topic)
    assert (end, stable) == (1, 0), (
        f"after the refusals (log end, last stable offset) is {(end, stable)}, expected (1, 0)"
    )


def _expect_epoch(answer: EndTxnResponse, producer: TxnProducer, version: int, where: str) -> None:
    """The answer has the next epoch of the producer, or none before v5."""
    found = (answer.producer_id, answer.producer_epoch)
    is_new = version >= FIRST_WITH_NEW_EPOCH
    expected = (producer.id, producer.epoch + 1) if is_new else (-1, -1)
    assert found == expected, f"{where}: id and epoch are {found}, expected {expected}"


@judges("TXN-017")
@at_versions("EndTxn", *VERSIONS)
@BOTH
def test_end_txn_again_is_answered_alike_and_opposite_direction_refused(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """Twice again, the other direction, then again: one marker in all, of the first direction."""
    producer = _producer(broker, "TXN-017", api_version)
    topic, done = broker.create_topic(), "commit" if commit else "abort"
    producer.write(topic, b"x")
    with requirement("TXN-017"):
        first, again, once_more = (
            producer.end(commit=commit, version=api_version) for _ in range(3)
        )
        opposite = producer.end(commit=not commit, version=api_version)
        after = producer.end(commit=commit, version=api_version)
        expect_error(first.error_code, ErrorCode.NONE, done)
        _expect_epoch(first, producer, api_version, done)
        expect_error(again.error_code, ErrorCode.NONE, f"{done} again")
        _expect_epoch(again, producer, api_version, f"{done} again")
        expect_error(once_more.error_code, ErrorCode.NONE, f"{done} a third time")
        _expect_epoch(once_more, producer, api_version, f"{done} a third time")
        refused = ErrorCode.INVALID_TXN_STATE
        expect_error(opposite.error_code, refused, f"the opposite of {done}")
        expect_error(after.error_code, ErrorCode.NONE, f"{done} after the refusal")
        _expect_epoch(after, producer, api_version, f"{done} after the refusal")
        markers = markers_of(producer, topic)
        assert markers == [(1, commit)], (
            f"the markers (offset, is a commit) are {markers}, expected {[(1, commit)]}"
        )


@judges("TXN-018")
@at_versions("EndTxn", *VERSIONS)
def test_end_txn_without_transaction_is_refused_but_newer_abort(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Commit and abort by a producer without any transaction.

    Both are refused before v5. From v5 on the abort returns the next epoch, and a producer with
    that one writes a transaction; the commit is refused.
    """
    producer = _producer(broker, "TXN-018", api_version)
    topic, is_new = broker.create_topic(), api_version >= FIRST_WITH_NEW_EPOCH
    with requirement("TXN-018"):
        commit = producer.end(commit=True, version=api_version)
        expect_error(commit.error_code, ErrorCode.INVALID_TXN_STATE, "an empty commit")
        abort = producer.end(commit=False, version=api_version)
        code = ErrorCode.NONE if is_new else ErrorCode.INVALID_TXN_STATE
        expect_error(abort.error_code, code, "an empty abort")
        _expect_epoch(abort, producer, api_version, "an empty abort")
        if is_new:
            producer.take(abort)
        producer.write(topic, b"x")
        answer = producer.end(commit=True, version=api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "the commit of a transaction")
        _expect_epoch(answer, producer, api_version, "the commit of a transaction")


@judges("TXN-019")
@at_versions("EndTxn", *VERSIONS)
def test_end_txn_with_wrong_identity_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """An unknown id, producer ids of another id and of none, both former epochs.

    The transaction stays open, without a marker, until the right identity commits it.
    """
    producer = _producer(broker, "TXN-019", api_version)
    elsewhere = _producer(broker, "TXN-019", api_version)
    for _ in range(2):
        producer.take(producer.init())
    topic = broker.create_topic()
    producer.write(topic, b"x")
    unmapped = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    fenced = fenced_code("EndTxn", api_version)
    with requirement("TXN-019") as check:
        for where, other, code in (
            ("an unknown id", producer.other(name=coordinated_name(broker, TRANSACTION)), unmapped),
            ("a producer id of another id", producer.other(id_=elsewhere.id), unmapped),
            ("a producer id of no producer", producer.other(id_=producer.id + 10**9), unmapped),
            ("the first epoch", producer.other(epoch=0), fenced),
            ("the epoch before", producer.other(epoch=1), fenced),
        ):
            for commit, what in ((True, "commit"), (False, "abort")):
                with check.subtest(f"{where}, {what}"):
                    answer = other.end(commit=commit, version=api_version)
                    expect_error(answer.error_code, code, f"{where}, {what}")
        with check.subtest("afterwards"):
            _expect_open(producer, topic)
            answer = producer.end(commit=True, version=api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "the right identity")


@judges("TXN-043")
@at_versions("EndTxn", *VERSIONS)
@BOTH
def test_end_txn_with_epoch_to_come_is_refused(
    broker: BrokerUnderTest, api_version: int, commit: bool
) -> None:
    """The next epoch and the highest one: the transaction stays open without a marker."""
    producer = _producer(broker, "TXN-043", api_version)
    topic = broker.create_topic()
    producer.write(topic, b"x")
    code = fenced_code("EndTxn", api_version)
    with requirement("TXN-043") as check:
        for epoch in (producer.epoch + 1, HIGHEST_EPOCH):
            with check.subtest(f"epoch {epoch}"):
                other = producer.other(epoch=epoch)
                answer = other.end(commit=commit, version=api_version)
                expect_error(answer.error_code, code, f"epoch {epoch}, the current one is 0")
        with check.subtest("afterwards"):
            _expect_open(producer, topic)
            answer = producer.end(commit=commit, version=api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "the right epoch")

"""TXN: producers with two-phase commit (KIP-939), in versions that are not stable yet."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeTransactionsRequest, InitProducerIdResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import markers_of, stable_offset
from suites.protocol.support.transactional import TxnProducer
from suites.protocol.support.unstable_versions import UNSTABLE, unstable_version

WITH_TWO_PHASES = "6+"  # of InitProducerId
SHORT_MS, LONG_MS, LONGEST_MS = 1_000, 600_000, 900_000
ALLOWED = {
    **UNSTABLE,
    "transaction.two.phase.commit.enable": "true",
    "transaction.max.timeout.ms": str(LONGEST_MS),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}
NO_TIMEOUT_MS = 2**31 - 1
LATE_MS = 30_000
NO_ID = (-1, -1)
NOT_ALLOWED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
REFUSED = {
    (True, False): NOT_ALLOWED,
    (False, True): ErrorCode.UNSUPPORTED_VERSION,
    (True, True): NOT_ALLOWED,
}
"""By ``enable2Pc`` and ``keepPreparedTxn``, where the broker does not allow the first."""


def _begun(
    producer: TxnProducer, *, two_phases: bool = False, keeps: bool = False
) -> InitProducerIdResponse:
    version = unstable_version(producer.broker, "InitProducerId", WITH_TWO_PHASES)
    request = producer.init_request()
    request.enable2_pc, request.keep_prepared_txn = two_phases, keeps
    return producer.patiently(request, version, lambda answer: [answer.error_code])


def _expect_refusal(answer: InitProducerIdResponse, code: ErrorCode, about: str) -> None:
    expect_error(answer.error_code, code, about)
    given = (answer.producer_id, answer.producer_epoch)
    assert given == NO_ID, f"{about}: (producer id, epoch) is {given} beside an error"


@judges("TXN-075")
@needs_broker(Use.TUNED, UNSTABLE)
def test_two_phase_commit_is_refused_where_it_is_not_allowed(broker: BrokerUnderTest) -> None:
    """A refused request ends no transaction, and takes no epoch; one of neither kind does."""
    unstable_version(broker, "InitProducerId", WITH_TWO_PHASES)
    producer, topic = TxnProducer(broker, "TXN-075"), broker.create_topic()
    producer.write(topic, b"open")
    with requirement("TXN-075") as check:
        for (two_phases, keeps), code in REFUSED.items():
            about = f"enable2Pc {two_phases}, keepPreparedTxn {keeps}"
            with check.subtest(about):
                answer = _begun(producer, two_phases=two_phases, keeps=keeps)
                _expect_refusal(answer, code, about)
        ended = producer.end(commit=True).error_code
        expect_error(ended, ErrorCode.NONE, "the end of the transaction that was open")
        answer = _begun(producer)
        expect_error(answer.error_code, ErrorCode.NONE, "neither of the two")
        ongoing = (answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch)
        assert ongoing == NO_ID, f"the ongoing transaction is of {ongoing}"
        given = (answer.producer_id, answer.producer_epoch)
        expected = (producer.id, producer.epoch + 1)
        assert given == expected, f"(producer id, epoch) is {given}, expected {expected}"


@judges("TXN-076")
@needs_broker(Use.TUNED, ALLOWED)
def test_transactions_with_two_phase_commit_have_no_timeout(broker: BrokerUnderTest) -> None:
    """Whatever timeout it requests; one without two-phase commit is aborted meanwhile."""
    unstable_version(broker, "InitProducerId", WITH_TWO_PHASES)
    describes = broker.version("DescribeTransactions")
    endless, short, greedy = (
        TxnProducer(broker, "TXN-076", timeout_ms=timeout_ms)
        for timeout_ms in (SHORT_MS, SHORT_MS, LONG_MS)
    )
    topic = broker.create_topic(partitions=2)
    with requirement("TXN-076") as check:
        answer = _begun(endless, two_phases=True)
        expect_error(answer.error_code, ErrorCode.NONE, "enable2Pc")
        endless.take(answer)
        endless.write(topic, b"endless")
        short.write(topic, b"short", partition=1)
        described = endless.connection.ask(
            DescribeTransactionsRequest(transactional_ids=[endless.name, short.name]), describes
        )
        shown = [one.transaction_timeout_ms for one in described.transaction_states]
        expected = [NO_TIMEOUT_MS, SHORT_MS]
        assert shown == expected, f"the timeouts are {shown}, expected {expected}"
        greedy.timeout_ms = LONGEST_MS + 1
        for two_phases, code in (
            (False, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
            (True, ErrorCode.NONE),
        ):
            about = f"a timeout above the longest, enable2Pc {two_phases}"
            with check.subtest(about):
                expect_error(_begun(greedy, two_phases=two_phases).error_code, code, about)
        about = "a prepared transaction to keep"
        _expect_refusal(
            _begun(endless, two_phases=True, keeps=True), ErrorCode.UNSUPPORTED_VERSION, about
        )
        markers = broker.last_seen(lambda: markers_of(short, topic, 1), bool, LATE_MS)
        assert [one for _, one in markers] == [False], f"the markers are {markers}"
        stable = stable_offset(endless, topic, 0)
        assert stable == 0, f"the last stable offset is {stable}, expected 0"
        ended = endless.end(commit=True).error_code
        expect_error(ended, ErrorCode.NONE, "a commit behind the requested timeout")

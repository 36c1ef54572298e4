"""IDEM: requests of InitProducerId with an id or an epoch (KIP-360)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import InitProducerIdRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import NO_TIMEOUT_MS, new_producer

NONE = -1


@judges("IDEM-023")
@at_versions("InitProducerId", "3+")
def test_init_producer_id_with_only_id_or_only_epoch_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An id of the broker, or another one, without an epoch; epochs without an id.

    A transactional id makes no difference, whichever broker coordinates it.
    """
    own, transactional_id = new_producer(broker).id, broker.unique_group()
    with requirement("IDEM-023") as check:
        for name, producer_id, epoch, of in (
            ("only the broker's id", own, NONE, None),
            ("only id 5", 5, NONE, None),
            ("only epoch 0", NONE, 0, None),
            ("only epoch 7", NONE, 7, None),
            ("only an id, of a transactional id", 5, NONE, transactional_id),
            ("only an epoch, of a transactional id", NONE, 7, transactional_id),
        ):
            with check.subtest(name):
                answer = broker.ask(_request(of, producer_id, epoch), api_version)
                where = f"{name}: id {producer_id}, epoch {epoch}"
                expect_error(answer.error_code, ErrorCode.INVALID_REQUEST, where)
                found = (answer.producer_id, answer.producer_epoch)
                assert found == (NONE, NONE), f"{where}: id and epoch of the answer are {found}"


def _request(of: str | None, producer_id: int, epoch: int) -> InitProducerIdRequest:
    """``of``: the transactional id."""
    return InitProducerIdRequest(
        transactional_id=of,
        transaction_timeout_ms=NO_TIMEOUT_MS,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


@judges("IDEM-001")
@at_versions("InitProducerId", "3+")
def test_init_producer_id_with_own_id_and_epoch_returns_another_id_with_epoch_0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without a transactional id the id and epoch of the request make no difference."""
    known = {new_producer(broker).id for _ in range(2)}
    with requirement("IDEM-001") as check:
        for producer_id, epoch in [*((one, 0) for one in sorted(known)), (max(known), 5)]:
            where = f"id {producer_id}, epoch {epoch}"
            with check.subtest(where):
                answer = broker.ask(_request(None, producer_id, epoch), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, where)
                found = (answer.producer_id, answer.producer_epoch)
                assert found[0] not in known, f"{where}: the answer has the id {found[0]} again"
                assert found[1] == 0, f"{where}: the epoch of the answer is {found[1]}"

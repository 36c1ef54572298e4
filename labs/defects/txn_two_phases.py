"""Defects of area TXN: two-phase commit (KIP-939)."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import InitProducerIdRequest
from labs.defects.client_requests import takes_from_client

ENDED = r"the end of the transaction that was open: error is"


@takes_from_client("TXN-075", rf"enable2Pc True, .*: error is (NONE|UNSUPPORTED)|{ENDED}")
def two_phases_need_no_leave(request: InitProducerIdRequest) -> None:
    """InitProducerId ignores enable2Pc."""
    request.enable2_pc = False


@takes_from_client("TXN-075", rf"keepPreparedTxn True: error is NONE|{ENDED}")
def a_prepared_transaction_is_no_matter(request: InitProducerIdRequest) -> None:
    """InitProducerId ignores keepPreparedTxn."""
    request.keep_prepared_txn = False


@takes_from_client("TXN-076", r"the timeouts are \[1000, 1000\]")
def a_transaction_with_two_phases_has_a_timeout(request: InitProducerIdRequest) -> None:
    """A producer with two-phase commit has the timeout that it requests."""
    request.enable2_pc = False


DEFECTS = [
    replace(each, private=True)
    for each in (
        two_phases_need_no_leave,
        a_prepared_transaction_is_no_matter,
        a_transaction_with_two_phases_has_a_timeout,
    )
]

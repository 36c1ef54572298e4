"""A transactional id obeys the table of its states."""

from __future__ import annotations

from itertools import product

import pytest

from harness.base.ids import ProducerEpoch, ProducerId, TimeMs
from harness.reference_broker.state.transactions.transaction import Transaction
from harness.reference_broker.state.transactions.transaction_states import (
    STATUS_IN_LOG,
    TRANSITIONS,
    TransactionEvent,
    TransactionState,
)
from harness.reference_broker.state.transitions import IllegalTransitionError


@pytest.mark.parametrize(("state", "event"), list(product(TransactionState, TransactionEvent)))
def test_an_event_applies_its_transition_or_raises_illegal_transition_error(
    state: TransactionState, event: TransactionEvent
) -> None:
    before = Transaction("t", ProducerId(7), ProducerEpoch(0), 1, TimeMs(0), state)
    if event not in TRANSITIONS[state]:
        with pytest.raises(IllegalTransitionError, match=f"{event.name} in a transactional id"):
            before.after(event, TimeMs(5))
        return
    after = before.after(event, TimeMs(5))
    assert after.state is TRANSITIONS[state][event]
    assert (after.updated_at, after.previous_id) == (5, 7)


def test_states_have_the_numbers_of_kafka_in_records() -> None:
    """Source: class TransactionState."""
    assert {state.value: status for state, status in STATUS_IN_LOG.items()} == {
        "Empty": 0,
        "Ongoing": 1,
        "PrepareCommit": 2,
        "PrepareAbort": 3,
        "CompleteCommit": 4,
        "CompleteAbort": 5,
        "Dead": 6,
        "PrepareEpochFence": 7,
    }

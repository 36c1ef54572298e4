"""A check of a time, on a machine that may be too slow to keep it.

A failure while the machine stood still says nothing about the broker, and neither does a
preparation that failed: the test runs again with longer times (:data:`harness.base.pace.FACTORS`),
and is inconclusive if the last attempt says nothing. Another failure on a machine that kept its
pace counts immediately: the harness kept it, while the broker may have been slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.base.pace import watched_pace
from harness.client.errors import (
    BrokenSilence,
    BrokerMisbehaved,
    PreparationFailed,
    WireViolation,
)
from harness.conformance.outcome import Inconclusive, describe


class TooSlow(Inconclusive):
    """The machine, to say whether the broker keeps a time."""


@contextmanager
def in_time(bound_ms: float) -> Iterator[None]:
    """The block fails when something takes longer than ``bound_ms``, the shortest of its bounds.

    ``bound_ms`` is scaled (:meth:`BrokerUnderTest.scaled_ms`), as longer times come by that.

    Raises:
        TooSlow: the block failed, and the machine starved meanwhile; or a preparation failed, as
            it does where a member loses its place because the broker is slow.
        AssertionError, BrokerMisbehaved: of the block, on a machine that kept its pace. A
            WireViolation on any machine, but a BrokenSilence: slowness changes no bytes.
    """
    failure: AssertionError | BrokerMisbehaved | None = None
    with watched_pace() as pace:
        try:
            yield
        except (AssertionError, BrokerMisbehaved) as error:
            failure = error
    if failure is None:
        return
    if isinstance(failure, PreparationFailed):
        raise TooSlow(f"with times of {bound_ms:.0f} ms: {describe(failure)}") from failure
    is_of_time = isinstance(failure, BrokenSilence) or not isinstance(failure, WireViolation)
    if is_of_time and pace.is_starved(bound_ms):
        raise TooSlow(
            f"the machine was too slow ({pace}) for a bound of {bound_ms:.0f} ms: "
            f"{describe(failure)}"
        ) from failure
    raise failure

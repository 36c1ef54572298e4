"""Preparations of a test, told apart from its check by their exception."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.errors import BrokerMisbehaved, PreparationFailed


@contextmanager
def preparing(what: str) -> Iterator[None]:
    """A step before the check, also where a check contains it; ``what`` names the step.

    Raises:
        PreparationFailed: the broker refused it, closed the connection, did not answer in time, or
            its answer cannot be decoded. The requirement is then inconclusive.
    """
    try:
        yield
    except PreparationFailed:
        raise
    except BrokerMisbehaved as error:
        raise PreparationFailed(f"{what}: {type(error).__name__}: {error}") from error

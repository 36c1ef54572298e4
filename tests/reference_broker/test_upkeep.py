"""Upkeep of a broker continues, whatever happens in one round."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from harness.base.ids import TimeMs
from harness.reference_broker.upkeep import Upkeep
from labs.hang_limit import HANGS_AFTER_S


def run_rounds(begin: Callable[[int], Iterator[None]], wanted: int) -> list[int]:
    """The numbers of the rounds that began, until there are as many as wanted."""
    begun: list[int] = []

    async def run() -> None:
        over = asyncio.get_running_loop().create_future()

        def begin_round(_now: TimeMs) -> Iterator[None]:
            begun.append(len(begun))
            if len(begun) == wanted:
                over.set_result(None)
            return begin(begun[-1])

        upkeep = Upkeep(begin_round, lambda: TimeMs(0), 0, lambda: 1)
        upkeep.start()
        await asyncio.wait_for(over, HANGS_AFTER_S)
        upkeep.stop()

    asyncio.run(run())
    return begun


def test_upkeep_logs_failed_step_and_continues(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def begin(number: int) -> Iterator[None]:
        yield
        if number == 0:
            raise RuntimeError("the first one")

    assert run_rounds(begin, 3) == [0, 1, 2]
    assert "a round of upkeep failed" in caplog.text
    assert "the first one" in caplog.text


def test_upkeep_continues_after_round_that_fails_immediately() -> None:
    def begin(number: int) -> Iterator[None]:
        if number == 0:
            raise RuntimeError("the first one")
        return iter(())

    assert run_rounds(begin, 3) == [0, 1, 2]


def test_long_upkeep_round_yields_to_other_tasks() -> None:
    turns: list[str] = []

    def begin(number: int) -> Iterator[None]:
        if number:
            return
        loop = asyncio.get_running_loop()
        loop.call_soon(turns.append, "another")
        for _ in range(2_000_000):
            if turns:
                turns.append("the round")
                return
            yield

    run_rounds(begin, 2)
    assert turns == ["another", "the round"]

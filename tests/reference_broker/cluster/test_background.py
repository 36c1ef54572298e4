"""Work in the background: the log has the error that ended it, and nothing of a cancelled one."""

from __future__ import annotations

import asyncio

import pytest

from harness.reference_broker.cluster.background import begun


async def _fails() -> None:
    raise ValueError("no such replica")


async def _waits() -> None:
    await asyncio.Event().wait()


async def _ends(*, cancelled: bool) -> None:
    task = begun(_waits() if cancelled else _fails())
    if cancelled:
        await asyncio.sleep(0)  # it has begun
        task.cancel()
    await asyncio.wait([task])


def test_error_that_ends_background_work_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(_ends(cancelled=False))
    (record,) = caplog.records
    assert "_fails" in record.getMessage()
    assert record.exc_info is not None
    assert "no such replica" in str(record.exc_info[1])


def test_cancelled_background_work_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(_ends(cancelled=True))
    assert caplog.records == []

"""Work of a broker in the background: an error that ends it is logged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_LOG = logging.getLogger(__name__)


def begun(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start work that nothing waits for. An error that ends it is logged with its trace.

    Without that line a broker with an ended fetcher looks well, and never follows again.
    """
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(_log_error)
    return task


def _log_error(task: asyncio.Task[None]) -> None:
    if task.cancelled():
        return
    error = task.exception()
    if error is not None:
        _LOG.error("work in the background ended: %s", task.get_coro(), exc_info=error)

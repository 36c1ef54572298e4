"""The event loop of the proxies: uvloop where it is installed, which Windows does not have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


def _fastest() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop, not yet running; :mod:`asyncio`'s own where there is no uvloop."""
    return _fastest()()

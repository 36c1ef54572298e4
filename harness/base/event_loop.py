"""The event loop of the proxies: uvloop where it is installed, which Windows does not have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=1)
def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return the maker of loops, uvloop's or asyncio's own; it is looked for once.

    The loops watch sockets, which asyncio's default on Windows cannot.
    """
    try:
        import uvloop
    except ImportError:
        return asyncio.SelectorEventLoop
    return uvloop.new_event_loop

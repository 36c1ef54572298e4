"""The built-in broker in this process, on a thread of its own, for comparison with a target."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

from harness.base.address import Address
from harness.reference_broker.server import BrokerServer
from harness.reference_broker.settings import BrokerSettings

HOST = "127.0.0.1"
SPECIFICATION = "reference"
"""The beginning of its spec, as in ``--target``."""


def spec_like(like: str) -> str:
    """Return the target string of a specification like a release; empty: like none."""
    return f"{SPECIFICATION},like={like}" if like else SPECIFICATION


class Specification:
    """The built-in broker like one release. Use as a context manager.

    Attributes:
        spec: as ``--target`` has it; the explained differences are found by it.
        address: where it listens; known inside of the ``with`` block.
    """

    def __init__(self, like: str, settings: Mapping[str, str]) -> None:
        """``like``: a release that the built-in broker can be like, empty for none.

        Raises LikenessError, SettingError.
        """
        self.spec = spec_like(like)
        self.address = Address(HOST, 0)
        self._settings = BrokerSettings.of(settings, like)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server = BrokerServer(self._settings)

    def __enter__(self) -> Specification:
        self._thread.start()
        start = asyncio.run_coroutine_threadsafe(self._server.start(HOST, 0), self._loop)
        self.address = Address(*start.result())
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

"""The least cost of a relay in asyncio: two protocols that write what they read."""

from __future__ import annotations

import asyncio
import sys


class Side(asyncio.Protocol):
    """One socket; what comes is written to the other."""

    other: Side
    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.other.transport.write(data)

    def pause_writing(self) -> None:
        self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        self.other.transport.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self.other.transport.close()


class ProxyClient(Side):
    """The side that was accepted; opens the other."""

    def __init__(self, port: int) -> None:
        self.port = port

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.task = asyncio.get_running_loop().create_task(self._connect())
        asyncio.get_running_loop().call_soon(self.transport.pause_reading)

    async def _connect(self) -> None:
        self.other = Side()
        self.other.other = self
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self.other, "127.0.0.1", self.port)
        self.transport.resume_reading()


async def main(port: int) -> None:
    """Print the port, and relay until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: ProxyClient(port), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))

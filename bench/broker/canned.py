"""A server that answers every frame with the same bytes, but for the correlation id.

``python -m bench.broker.canned``: prints its port and serves ApiVersions v0 until it is killed.
"""

from __future__ import annotations

import asyncio
import struct
import sys

from harness.codec.apis import APIS
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.messages import ApiVersionsResponse

_ID_AT = slice(8, 12)  # of a request, behind its length, key and version


def answer() -> bytes:
    """An ApiVersions answer as long as a broker's."""
    keys = [
        ApiVersionsResponse.ApiVersion(
            api_key=api.key,
            min_version=api.valid_versions.lowest,
            max_version=api.valid_versions.highest,
        )
        for api in APIS.values()
    ]
    return frame(encode_response(ApiVersionsResponse(api_keys=keys), 0, 0))


class Canned(asyncio.Protocol):
    """One connection."""

    def __init__(self, body: bytes) -> None:
        self._before, self._after = body[:4], body[8:]
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport
        buffer = self._buffer + data
        place = 0
        while len(buffer) - place >= 4:
            (length,) = struct.unpack_from(">i", buffer, place)
            if len(buffer) - place < 4 + length:
                break
            request = buffer[place : place + 4 + length]
            self._transport.write(self._before + request[_ID_AT] + self._after)
            place += 4 + length
        self._buffer = buffer[place:]


async def main() -> None:
    """Serve until killed."""
    body = answer()
    server = await asyncio.get_running_loop().create_server(lambda: Canned(body), "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

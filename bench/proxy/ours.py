"""Our proxy in a process of its own: ``python -m bench.proxy.ours WAY PORT``."""

from __future__ import annotations

import asyncio
import sys

import uvloop

from harness.proxies.addresses.book import AddressBook
from harness.proxies.addresses.rewriter import AddressRewriter
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.proxy import Proxy

CREATE_TOPICS = 19


class Waiting(Interceptor):
    """A rule is armed, for an API that does not come by."""

    is_idle = False

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        return api_key == CREATE_TOPICS


def proxy(way: str, port: int) -> Proxy:
    """``plain``, ``idle`` or ``full``."""
    upstream = ("127.0.0.1", port)
    if way == "plain":
        return Proxy(way, upstream)
    if way == "idle":
        return Proxy(way, upstream, interceptor=Interceptor())
    return Proxy(way, upstream, interceptor=Waiting(), rewriter=AddressRewriter(AddressBook()))


async def main(way: str, port: int) -> None:
    """Says its port, and what it holds for each line that it is sent, until that ends."""
    one = proxy(way, port)
    await one.start()
    sys.stdout.write(f"{one.listen.port}\n")
    sys.stdout.flush()
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        sys.stdout.write(f"{one.held_bytes}\n")
        sys.stdout.flush()
    await one.stop()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))

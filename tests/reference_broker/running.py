"""A broker in a thread of this process, and shortcuts to talk to it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.connection import Connection
from harness.codec.messages import CreateTopicsRequest, MetadataRequest
from harness.reference_broker.server import serve
from harness.reference_broker.settings import BrokerSettings
from labs.hang_limit import HANGS_AFTER_S

Address = tuple[str, int]


@contextmanager
def running_broker(
    settings: dict[str, str] | None = None, port: int = 0, like: str = ""
) -> Iterator[Address]:
    """Serve on a free port until the block ends, and require a prompt end. Yields the address."""
    listening = threading.Event()
    address: list[Address] = []
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []

    def on_listening(host: str, port: int) -> None:
        address.append((host, port))
        listening.set()

    async def main() -> None:
        parsed = BrokerSettings.of(settings, like)
        task = asyncio.create_task(serve("127.0.0.1", port, parsed, on_listening))
        loops.append((asyncio.get_running_loop(), task))
        await asyncio.gather(task, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert listening.wait(HANGS_AFTER_S), "the broker does not listen"
    try:
        yield address[0]
    finally:
        loop, task = loops[0]
        loop.call_soon_threadsafe(task.cancel)
        thread.join(HANGS_AFTER_S)
        assert not thread.is_alive(), "the broker does not stop"


def create_topic(address: Address, name: str, partitions: int = 1, **configs: str) -> None:
    """Create a topic; config names are written with "_" for "."."""
    topic = CreateTopicsRequest.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )
    with Connection(address) as connection:
        response = connection.ask(CreateTopicsRequest(topics=[topic]), 2)
    assert response.topics[0].error_code == 0, response


def named(*names: str) -> list[MetadataRequest.MetadataRequestTopic]:
    """Topics of a metadata request."""
    return [MetadataRequest.MetadataRequestTopic(name=name) for name in names]

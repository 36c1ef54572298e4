"""Data of real brokers and consumers of the ZooKeeper years, read by ours and written again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from harness.base.address import Address
from harness.historical.consumer_id import stream_names
from harness.historical.range_assignment import range_assignment
from harness.historical.zookeeper_paths import Znode, znode_at
from harness.historical.zookeeper_registry import (
    decode_broker,
    decode_consumer,
    decode_offset,
    decode_state,
    decode_topic,
    encode_broker,
    encode_consumer,
    encode_offset,
    encode_state,
    encode_topic,
)
from harness.targets.artifacts import fetch_release
from harness.targets.java import find_java
from harness.targets.kafka.target import KafkaTarget
from harness.targets.kafka.zookeeper import PIN
from harness.targets.process import ChildProcess
from harness.targets.zookeeper_topics import ZookeeperTopics
from tests.targets import kinds
from tests.targets.round_trip import Talk, eventually

TOPIC, GROUP, PARTITIONS = "legacy", "readers", 5
SUBSCRIPTIONS = {"by-name": ["--topic", TOPIC], "by-filter": ["--whitelist", "leg.*"]}
FORMS: dict[Znode, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    Znode.BROKER: (decode_broker, encode_broker),
    Znode.TOPIC: (decode_topic, encode_topic),
    Znode.PARTITION_STATE: (decode_state, encode_state),
    Znode.CONSUMER: (decode_consumer, encode_consumer),
    Znode.OFFSET: (decode_offset, encode_offset),
    Znode.OWNER: (str, str),
}
OWNERS = f"/consumers/{GROUP}/owners/{TOPIC}"


@contextmanager
def _consumer(release: str, zookeeper: Address, folder: Path, name: str) -> Iterator[None]:
    """The release's own consumer, as a process."""
    settings = folder / f"{name}.properties"
    settings.write_text(
        f"group.id={GROUP}\nauto.commit.interval.ms=200\nauto.offset.reset=smallest\n"
    )
    command = [str(find_java().executable), "kafka.tools.ConsoleConsumer"]
    command += ["--zookeeper", str(zookeeper), "--consumer.config", str(settings)]
    classpath = os.pathsep.join(map(str, fetch_release(release)))
    child = ChildProcess(
        [*command, *SUBSCRIPTIONS[name]],
        folder / f"{name}.log",
        environment={**os.environ, "CLASSPATH": classpath},
    )
    try:
        yield
    finally:
        child.kill()


@contextmanager
def _connected(zookeeper: Address) -> Iterator[KazooClient]:
    client = KazooClient(hosts=str(zookeeper), timeout=30)
    client.start(timeout=30)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def _texts(client: KazooClient, path: str) -> Iterator[tuple[str, str]]:
    """(path, text) of every node with a text, from this one down."""
    data, _ = client.get(path)
    if data:
        yield path, data.decode()
    for child in client.get_children(path):
        yield from _texts(client, f"{path}/{child}")


def _owners(client: KazooClient) -> dict[int, str] | None:
    """Partition -> its owner, once both consumers own some and all is owned."""
    try:
        names = client.get_children(OWNERS)
        found = {int(name): client.get(f"{OWNERS}/{name}")[0].decode() for name in names}
    except NoNodeError:  # it was just released
        return None
    both = len(set(found.values())) == len(SUBSCRIPTIONS)
    return found if both and len(found) == PARTITIONS else None


def _same(left: str, right: str) -> bool:
    return bool(json.loads(left) == json.loads(right)) if right.startswith("{") else left == right


@pytest.mark.kafka
@pytest.mark.rotates(20)
@pytest.mark.sample(4)
@pytest.mark.parametrize("release", ["0.8.2.2", "0.9.0.1", "0.10.2.2"])
def test_old_znodes_round_trip_and_owners_match_range_assignment(
    release: str, tmp_path: Path
) -> None:
    kinds.need_kafka(release, PIN)
    with ExitStack() as running:
        target = running.enter_context(KafkaTarget(release, log_dir=tmp_path))
        assert target.zookeeper is not None
        ZookeeperTopics(target.zookeeper).make(TOPIC, PARTITIONS, {})
        Talk(target).write(TOPIC, b"value", target.addresses[0])
        for name in SUBSCRIPTIONS:
            running.enter_context(_consumer(release, target.zookeeper, tmp_path, name))
        client = running.enter_context(_connected(target.zookeeper))
        owners = eventually(lambda: _owners(client), "both consumers own partitions")
        consumers = client.get_children(f"/consumers/{GROUP}/ids")
        threads = [name for one in consumers for name in stream_names(one, 1)]
        assigned = range_assignment(range(PARTITIONS), threads)
        assert owners == {partition: who for who, mine in assigned.items() for partition in mine}
        offset = Znode.OFFSET.path(group=GROUP, topic=TOPIC, partition=0)
        eventually(lambda: client.exists(offset), "an offset is committed")
        texts = [pair for root in ("/brokers", "/consumers") for pair in _texts(client, root)]
    _expect_read_and_written_again(texts)


def _expect_read_and_written_again(texts: list[tuple[str, str]]) -> None:
    seen = set()
    for path, text in texts:
        found = znode_at(path)
        if found is None:
            continue
        decode, encode = FORMS[found.znode]
        assert _same(encode(decode(text)), text), f"{path}: {text}"
        seen.add(found.znode)
    assert seen == set(FORMS), f"not seen: {set(FORMS) - seen}"

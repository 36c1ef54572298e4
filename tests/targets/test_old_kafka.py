"""Real releases from before ApiVersions: observed versions, and topics by ZooKeeper."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.first_releases import first_releases
from harness.codec.records import Record, RecordBatch, decode_message_set, encode_batch
from harness.codec.releases import release_numbers
from harness.targets import zookeeper_topics
from harness.targets.info import OBSERVED, TargetInfo, probe
from harness.targets.kafka.target import KafkaTarget
from harness.targets.kafka.zookeeper import PIN
from harness.targets.observed_versions import questions
from harness.targets.zookeeper_topics import ZookeeperTopics
from tests.targets import kinds

NUMBERS = itertools.count()
RELEASES = ("0.8.0", "0.8.2.2", "0.9.0.1")


@pytest.fixture(scope="module", params=RELEASES)
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaTarget]:
    kinds.need_kafka(request.param, PIN)
    log_dir: Path = tmp_path_factory.mktemp("old")
    with KafkaTarget(request.param, log_dir=log_dir) as target:
        yield target


@pytest.fixture(scope="module")
def info(running: KafkaTarget) -> TargetInfo:
    return probe(running)


@pytest.fixture
def broker(running: KafkaTarget, info: TargetInfo) -> Iterator[BrokerUnderTest]:
    assert running.zookeeper is not None
    client = BrokerUnderTest(
        running.addresses,
        info.api_versions,
        time_scale=info.time_scale,
        name_prefix=f"kc-{next(NUMBERS)}",  # several tests on one broker
        topic_maker=ZookeeperTopics(running.zookeeper),
    )
    yield client
    client.close()


@pytest.mark.kafka
@pytest.mark.rotates(20)
@pytest.mark.sample(4)
def test_observed_versions_equal_documented_versions_of_release(info: TargetInfo) -> None:
    """Without the early form of the group protocol in 0.8.2."""
    numbers = release_numbers(info.release)
    known: dict[int, list[int]] = {}
    for key in {api_named(each.api).key for each in questions()}:
        for version, first in first_releases(key).items():
            if release_numbers(first.release) <= numbers:
                known.setdefault(key, []).append(version)
    expected = {key: (min(versions), max(versions)) for key, versions in known.items()}
    assert info.versions_source == OBSERVED
    assert info.api_versions == expected


@pytest.mark.kafka
@pytest.mark.rotates(20)
@pytest.mark.sample(4)
def test_topic_created_in_zookeeper_is_usable_and_not_created_twice(
    broker: BrokerUnderTest,
) -> None:
    topic = broker.create_topic(partitions=3)
    shown = broker.metadata([topic.name]).topics[0]
    assert sorted(each.partition_index for each in shown.partitions) == [0, 1, 2]
    answer = broker.produce(topic, encode_batch(RecordBatch([Record(b"one"), Record(b"two")])))
    assert answer.error_code == ErrorCode.NONE
    assert broker.end_offset(topic) == 2
    fetched = broker.fetch(topic, 0).records or b""
    assert [each.value for each in decode_message_set(fetched)] == [b"one", b"two"]
    with pytest.raises(PreparationFailed, match="exists already"):
        broker.create_topic(name=topic.name)


@pytest.mark.kafka
@pytest.mark.rotates(20)
@pytest.mark.sample(4)
def test_topic_settings_in_zookeeper_take_effect(broker: BrokerUnderTest, info: TargetInfo) -> None:
    """A message above the topic's own limit is refused; 0.8.0 has no settings of topics."""
    configs = {"max.message.bytes": "100"}
    if info.release == "0.8.0":
        with pytest.raises(ApiNotAdvertised, match="no topics with settings"):
            broker.create_topic(configs=configs)
        return
    topic = broker.create_topic(configs=configs)
    answer = broker.produce(topic, encode_batch(RecordBatch([Record(bytes(200))])))
    assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.kafka
@pytest.mark.rotates(20)
@pytest.mark.sample(4)
def test_topic_deleted_in_zookeeper_disappears_except_in_0_8_0(
    broker: BrokerUnderTest, info: TargetInfo
) -> None:
    """In 0.8.0 no topic can be deleted."""
    topic = broker.create_topic()
    assert broker.topic_maker is not None
    broker.topic_maker.delete([topic.name, "kc-never-made"])

    def names() -> set[str | None]:
        return {each.name for each in broker.metadata(None).topics}

    if info.release == "0.8.0":
        assert topic.name in names()
    else:
        broker.eventually(lambda: topic.name not in names(), f"{topic.name} is gone")


def test_unreachable_zookeeper_raises_preparation_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_topics, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = Address(*server.getsockname())
    with pytest.raises(PreparationFailed, match=f"ZooKeeper {address}"):
        ZookeeperTopics(address).delete(["x"])

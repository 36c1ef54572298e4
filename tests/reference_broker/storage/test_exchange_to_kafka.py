"""Data of our broker is served by a real Kafka 4.4.0: single topics, and whole folders."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.codec.data_framing import read_quorum_state
from harness.targets.kafka.target import KafkaTarget
from harness.targets.reference import ReferenceBroker
from tests.reference_broker.storage.exchange import (
    ONLY_NODE,
    Served,
    cluster_in,
    exchanged,
    given_topics,
    given_whole,
    kept,
    serves,
    topics_of,
)
from tests.reference_broker.storage.varied_topics import (
    CODECS,
    QUICK,
    TOPICS,
    await_compaction,
    await_log_start,
    create,
    go_on,
    is_committed,
    produce,
    write_topics,
)
from tests.targets import kinds

pytestmark = [pytest.mark.kafka, pytest.mark.rotates(20)]
KAFKA = "4.4.0"
QUORUM_STATE = "__cluster_metadata-0/quorum-state"


@dataclass(frozen=True)
class Written:
    """Folders of our broker in the cluster of the Kafka that gets them, and their data."""

    kafka: KafkaTarget
    after_kill: Path
    after_stop: Path
    served: dict[str, Served]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    kinds.need_kafka(KAFKA)
    folder = tmp_path_factory.mktemp("exchange")
    killed, stopped = folder / "killed", folder / "stopped"
    with KafkaTarget(KAFKA, settings=QUICK, log_dir=folder) as kafka:
        (own,) = kafka.log_directories(ONLY_NODE)
        with kept(cluster_in(own), settings=QUICK, log_dir=folder) as ours:
            write_topics(ours.addresses[0])
            (where,) = ours.log_directories(ONLY_NODE)
            await_compaction(where)
            await_log_start(where)
            served = all_served(ours.addresses[0])
            ours.kill_node(ONLY_NODE)
            shutil.copytree(where, killed)
            ours.restart_node(ONLY_NODE)
            assert all_served(ours.addresses[0]) == served
            ours.stop_node(ONLY_NODE)
            shutil.copytree(where, stopped)
        yield Written(kafka, killed, stopped, served)


def all_served(address: Address) -> dict[str, Served]:
    return {topic: serves(address, topic) for topic in TOPICS}


def test_broker_serves_written_topics_with_segments_and_moved_start(written: Written) -> None:
    """The data has segments, a moved start and a gap; otherwise the comparison would be empty."""
    found = {topic: (one.start, one.end) for topic, one in written.served.items()}
    assert found == {
        "codecs": (0, 600),
        "compacted": (0, 60),
        "shortened": (275, 600),
        "idempotent": (0, 28),
    }
    assert written.served[CODECS].batches == 60
    assert len(list((written.after_stop / "codecs-0").glob("*.log"))) == 3


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_kafka_starts_with_whole_broker_folder_and_serves_its_data(
    written: Written, end: str
) -> None:
    """With the metadata log the topics exist without a CreateTopics request."""
    folder = written.after_stop if end == "stop" else written.after_kill
    at = exchanged(written.kafka, given_whole(folder))
    assert set(topics_of(at)) >= set(TOPICS)
    assert all_served(at) == written.served
    assert is_committed(at)
    assert go_on(at) == (30, 2), "both producers are known by their last batch"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_kafka_serves_single_topics_of_broker(written: Written, end: str) -> None:
    folder = written.after_stop if end == "stop" else written.after_kill
    with KafkaTarget(KAFKA, settings=QUICK) as kafka:
        create(kafka.addresses[0], {topic: {} for topic in TOPICS})
        at = exchanged(kafka, given_topics(folder, *TOPICS))
        assert all_served(at) == written.served
        produce(at, CODECS, b"kafka goes on")
        assert serves(at, CODECS).end == 601


def test_kafka_and_broker_continue_same_folder_in_turns(written: Written, tmp_path: Path) -> None:
    """Each continues behind the records of the other, in a later epoch of the quorum."""
    kafka = written.kafka
    (theirs,) = kafka.log_directories(ONLY_NODE)
    epochs, end = [], 600
    with kept(cluster_in(written.after_stop), settings=QUICK, log_dir=tmp_path) as ours:
        (mine,) = ours.log_directories(ONLY_NODE)
        source = written.after_stop
        turns: list[KafkaTarget | ReferenceBroker] = [kafka, ours, kafka, ours]
        for target in turns:
            at = exchanged(target, given_whole(source))
            produce(at, CODECS, b"one more")
            end += 1
            assert serves(at, CODECS).end == end
            target.stop_node(ONLY_NODE)
            source = tmp_path / f"after-{end}"
            shutil.copytree(theirs if target is kafka else mine, source)
            noted = read_quorum_state((source / QUORUM_STATE).read_text())
            epochs.append(noted.message.leader_epoch)
    assert epochs == sorted(set(epochs))


SHORT_METADATA = {
    **QUICK,
    "metadata.log.segment.bytes": str(1 << 20),
    "metadata.log.max.record.bytes.between.snapshots": "200000",
    "metadata.max.retention.bytes": "300000",
}
NAMES = [f"topic-{number}" for number in range(60)]
LONG = {"leader.replication.throttled.replicas": ",".join(["0:1"] * 8_000)}
"""So that some tens of topics fill a segment of the metadata log."""


def test_kafka_starts_with_metadata_log_that_begins_after_snapshot(
    written: Written, tmp_path: Path
) -> None:
    """Its first segments are gone, and neither broker needs them (KIP-630)."""
    cluster = cluster_in(written.after_stop)
    with kept(cluster, settings=SHORT_METADATA, log_dir=tmp_path) as ours:
        at = ours.addresses[0]
        for name in NAMES:
            create(at, {name: LONG})
            produce(at, name, b"one")
        (where,) = ours.log_directories(ONLY_NODE)
        metadata = where / "__cluster_metadata-0"
        assert min(int(path.stem) for path in metadata.glob("*.log")) > 0
        ours.stop_node(ONLY_NODE)
        ours.restart_node(ONLY_NODE)
        assert topics_of(at) == sorted(NAMES)
        assert serves(at, NAMES[0]).end == 1
        ours.stop_node(ONLY_NODE)
        shutil.copytree(where, tmp_path / "short")
    at = exchanged(written.kafka, given_whole(tmp_path / "short"))
    assert set(topics_of(at)) >= set(NAMES)
    assert [serves(at, name).end for name in NAMES] == [1] * len(NAMES)

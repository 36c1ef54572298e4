"""Data of a real Kafka is served by our broker: whole folders, and topics of old releases."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.codec.data_framing.log_folder import LEADER_EPOCHS
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import CODEC_MASK, split_batches
from harness.codec.records.compression import CODEC_NAMES
from harness.targets.errors import TargetStartError
from harness.targets.kafka.release import release_key
from harness.targets.kafka.target import KafkaTarget
from tests.reference_broker.storage.exchange import (
    ONLY_NODE,
    Served,
    exchanged,
    given_topics,
    given_whole,
    kept,
    serves,
    topics_of,
)
from tests.reference_broker.storage.kafka_folder import TOPIC, copied_file, write
from tests.reference_broker.storage.varied_topics import (
    QUICK,
    TOPICS,
    await_compaction,
    await_log_start,
    create,
    files_of,
    go_on,
    is_committed,
    produce,
    write_topics,
)
from tests.targets import kinds

pytestmark = [pytest.mark.kafka, pytest.mark.rotates(20)]
KAFKA = "4.4.0"
METADATA = "__cluster_metadata-0"
FETCH_VERSIONS = {"0.8.2.2": 0, "0.10.2.2": 3}
ENDS = ("stopped", "killed", "torn")


@dataclass(frozen=True)
class Folder:
    """The folder of a node, and the data that Kafka served, or would after the next start."""

    path: Path
    served: dict[str, Served]


def all_served(address: Address, topics: tuple[str, ...], version: int = 11) -> dict[str, Served]:
    return {topic: serves(address, topic, fetch_version=version) for topic in topics}


# -- a folder with its metadata log ----------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Folder]:
    """Folders by the end of Kafka. The torn one has the last batch only in part."""
    kinds.need_kafka(KAFKA)
    folder, topics = tmp_path_factory.mktemp("kafka"), (TOPIC, *TOPICS)
    made: dict[str, Folder] = {}
    with KafkaTarget(KAFKA, settings=QUICK, log_dir=folder) as kafka:
        at = kafka.addresses[0]
        write(kafka)
        write_topics(at)
        (where,) = kafka.log_directories(ONLY_NODE)
        await_compaction(where)
        await_log_start(where)
        served = all_served(at, topics)
        kafka.kill_node(ONLY_NODE)
        for end in ("killed", "torn"):
            made[end] = Folder(folder / end, served)
            shutil.copytree(where, folder / end)
        for topic in topics:
            tear(folder / "torn" / f"{topic}-0")
        kafka.restart_node(ONLY_NODE)
        assert all_served(at, topics) == served
        kafka.stop_node(ONLY_NODE)
        made["stopped"] = Folder(folder / "stopped", served)
        shutil.copytree(where, folder / "stopped")
        exchanged(kafka, given_whole(folder / "torn"))
        made["torn"] = Folder(folder / "torn", all_served(at, topics))
    return made


def tear(folder: Path) -> None:
    """Cut the last batch in half."""
    last = max(folder.glob("*.log"))
    _, start = split_batches(last.read_bytes())[-1]
    with last.open("r+b") as log:
        log.truncate(start + (last.stat().st_size - start) // 2)


@pytest.mark.parametrize("end", ENDS)
def test_broker_starts_with_whole_kafka_folder_and_serves_its_data(
    folders: dict[str, Folder], end: str, tmp_path: Path
) -> None:
    """The metadata log has the topics."""
    folder = folders[end]
    with kept(settings=QUICK, log_dir=tmp_path) as ours:
        at = exchanged(ours, given_whole(folder.path))
        assert set(topics_of(at)) >= folder.served.keys()
        assert all_served(at, tuple(folder.served)) == folder.served
        assert is_committed(at)
        if end != "torn":
            assert go_on(at) == (30, 2), "both producers are known by their last batch"
        produce(at, TOPIC, b"ours goes on")
        assert serves(at, TOPIC).end == folder.served[TOPIC].end + 1
        (own,) = ours.log_directories(ONLY_NODE)
        assert aborted_in(own) == aborted_in(folders["stopped"].path) != []


def aborted_in(folder: Path) -> list[bytes]:
    """The indexes of aborted transactions; after a kill the start makes them anew."""
    return [path.read_bytes() for path in sorted((folder / f"{TOPIC}-0").glob("*.txnindex"))]


def test_kafka_folder_contains_all_log_features(folders: dict[str, Folder]) -> None:
    """The folder has all features of a log; otherwise the comparison would cover less."""
    served, torn = folders["killed"].served, folders["torn"].served
    assert {topic: one.start for topic, one in served.items() if one.start} == {"shortened": 275}
    assert all(torn[topic].end < one.end for topic, one in served.items())
    batches = read_records(served[TOPIC].data, limit_bytes=1 << 30).batches
    codecs = {CODEC_NAMES[batch.attributes & CODEC_MASK] for batch in batches}
    assert codecs == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert sum(batch.is_control for batch in batches) == 3
    assert list((folders["stopped"].path / f"{TOPIC}-0").glob("*.txnindex"))


def test_broker_starts_from_metadata_snapshot_without_log(
    folders: dict[str, Folder], tmp_path: Path
) -> None:
    """As when a node has fetched one and then ended (KafkaRaftLog, truncateToLatestSnapshot)."""
    folder = folders["killed"]
    shutil.copytree(folder.path, tmp_path / "short")
    metadata = tmp_path / "short" / METADATA
    assert max(path.name for path in metadata.glob("*.checkpoint")) > "0" * 19 + "1"
    for path in files_of(metadata):
        path.unlink()
    (metadata / LEADER_EPOCHS).unlink()
    with kept(settings=QUICK, log_dir=tmp_path) as ours:
        at = exchanged(ours, given_whole(tmp_path / "short"))
        assert set(topics_of(at)) >= folder.served.keys()
        assert all_served(at, tuple(folder.served)) == folder.served


def test_damaged_metadata_snapshot_fails_start_of_kafka_and_broker(
    folders: dict[str, Folder], tmp_path: Path
) -> None:
    """The newest snapshot is damaged; an older one and the log could have the same content."""
    shutil.copytree(folders["killed"].path, tmp_path / "damaged")
    newest = max((tmp_path / "damaged" / METADATA).glob("*.checkpoint"))
    data = bytearray(newest.read_bytes())
    data[len(data) // 2] ^= 1
    newest.write_bytes(data)
    give = given_whole(tmp_path / "damaged")
    with KafkaTarget(KAFKA, settings=QUICK, log_dir=tmp_path) as kafka:
        with pytest.raises(TargetStartError, match="CorruptRecordException"):
            exchanged(kafka, give)
    with kept(settings=QUICK, log_dir=tmp_path) as ours:
        with pytest.raises(TargetStartError, match=rf"{newest.name}: .* snapshot is damaged"):
            exchanged(ours, give)


# -- topics of those that have no such log ---------------------------------------------------------


@pytest.mark.parametrize("release", ["2.8.2", *FETCH_VERSIONS])
@pytest.mark.parametrize("end", ["stopped", "killed"])
@pytest.mark.sample(4)
def test_broker_serves_topics_of_old_kafka_release(release: str, end: str, tmp_path: Path) -> None:
    """The topics are in a cluster of our broker that has topics of these names."""
    kinds.need_kafka(release)
    varied = TOPICS if release_key(release) >= release_key("2.8") else ()
    topics, version = (TOPIC, *varied), FETCH_VERSIONS.get(release, 11)
    with KafkaTarget(release, mode="zk", settings=QUICK, log_dir=tmp_path) as kafka:
        at = kafka.addresses[0]
        write(kafka)
        (where,) = kafka.log_directories(ONLY_NODE)
        if varied:
            write_topics(at)
            await_compaction(where)
            await_log_start(where)
        served = all_served(at, topics, version)
        if varied and end == "killed":
            await_log_start(where)
        ended = kafka.stop_node if end == "stopped" else kafka.kill_node
        ended(ONLY_NODE)
        shutil.copytree(where, tmp_path / "theirs", copy_function=copied_file)
    with kept(settings=QUICK, log_dir=tmp_path) as ours:
        create(ours.addresses[0], {topic: {} for topic in topics})
        at = exchanged(ours, given_topics(tmp_path / "theirs", *topics))
        assert all_served(at, topics) == served

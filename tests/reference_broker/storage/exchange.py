"""What two brokers must agree on when one has the other's files, and how files change hands."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from harness.client.connection import Connection
from harness.client.requests import (
    EARLIEST,
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
)
from harness.codec.data_framing import (
    CheckpointedOffset,
    PartitionMetadata,
    offset_checkpoint_bytes,
    partition_metadata_bytes,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsRequest, MetadataRequest
from harness.codec.records.any_format import read_records
from harness.reference_broker.storage.log_folder import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
)
from harness.targets.kept_reference import KeptReference
from harness.targets.reference import COMMAND
from harness.targets.target import Address, Target
from tests.targets.round_trip import NOT_YET, eventually

_PIECE_BYTES = 1 << 20
_ANY_BYTES = 1 << 30
ONLY_NODE = 1


@dataclass(frozen=True)
class Served:
    """A partition as readers get it: where it begins and ends, and every byte between."""

    start: int
    end: int
    data: bytes

    @property
    def batches(self) -> int:
        return len(read_records(self.data, limit_bytes=_ANY_BYTES).batches)


def serves(address: Address, topic: str, *, partition: int = 0, fetch_version: int = 11) -> Served:
    """What a broker gives of one partition, as soon as it does. It never makes the topic."""
    with Connection(address, timeout_ms=30_000) as connection:

        def offset(at: int) -> int | None:
            return _offset(connection, topic, partition, at, fetch_version)

        start = eventually(lambda: offset(EARLIEST), f"{topic} is served")
        end = eventually(lambda: offset(LATEST), f"{topic} has an end")
        pieces = list(_pieces(connection, topic, partition, start, fetch_version))
    return Served(start, end, b"".join(pieces))


def _offset(
    connection: Connection, topic: str, partition: int, at: int, fetch_version: int
) -> int | None:
    version = 0 if fetch_version < 2 else 1
    request = list_offsets_request(Topic(topic), at, partition=partition)
    if version == 0:
        entry = ListOffsetsRequest.ListOffsetsPartition
        wanted = entry(partition_index=partition, timestamp=at, max_num_offsets=1)
        request.topics[0].partitions = [wanted]
    found = connection.ask(request, version).topics[0].partitions[0]
    if found.error_code in NOT_YET:
        return None
    assert found.error_code == ErrorCode.NONE, ErrorCode(found.error_code)
    return found.old_style_offsets[0] if version == 0 else found.offset


def _pieces(
    connection: Connection, topic: str, partition: int, start: int, version: int
) -> Iterator[bytes]:
    """Whole batches up to the end. The first may begin below `start`, in the middle of which it
    is."""
    offset = start
    while True:
        wanted = fetch_partition(offset, partition=partition, partition_max_bytes=_PIECE_BYTES)
        request = fetch_request([fetch_topic(Topic(topic), version, [wanted])])
        found = connection.ask(request, version).responses[0].partitions[0]
        assert found.error_code == ErrorCode.NONE, ErrorCode(found.error_code)
        batches = read_records(found.records or b"", limit_bytes=_ANY_BYTES).batches
        if not batches:
            return
        last = batches[-1]
        yield bytes((found.records or b"")[: last.position + last.size_bytes])
        offset = last.base_offset + last.last_offset_delta + 1


def topics_of(address: Address) -> list[str]:
    """All that a broker tells of."""
    with Connection(address) as connection:
        answer = connection.ask(MetadataRequest(topics=None), 4)
    return sorted(topic.name or "" for topic in answer.topics)


# -- whole folders ---------------------------------------------------------------------------------


def cluster_in(folder: Path) -> str:
    """Whose it is."""
    return read_meta_properties((folder / META_PROPERTIES).read_bytes()).values["cluster.id"]


def kept(cluster: str = "", **options: object) -> KeptReference:
    """Ours; in the cluster with this id, if it is to have one."""
    command = [*COMMAND, "--cluster-id", cluster] if cluster else COMMAND
    return KeptReference(command=command, **options)  # type: ignore[arg-type]


def exchanged(target: Target, change: Callable[[Path], None]) -> Address:
    """Stop its node in good order, have its folder changed, and start it again."""
    (folder,) = target.log_directories(ONLY_NODE)
    target.stop_node(ONLY_NODE)
    change(folder)
    target.restart_node(ONLY_NODE)
    return target.addresses[0]


def given_whole(folder: Path) -> Callable[[Path], None]:
    """Have this folder instead of one's own."""

    def give(own: Path) -> None:
        shutil.rmtree(own)
        shutil.copytree(folder, own)

    return give


# -- single topics ---------------------------------------------------------------------------------


def given_topics(folder: Path, *topics: str) -> Callable[[Path], None]:
    """Have these topics' folders instead of one's own, with what is noted of them beside, under
    the ids that the topics have here."""

    def give(own: Path) -> None:
        for topic in topics:
            topic_id = _id_of(own / f"{topic}-0")
            for mine in _folders(own, topic):
                shutil.rmtree(mine)
            for theirs in _folders(folder, topic):
                shutil.copytree(theirs, own / theirs.name)
                _name(own / theirs.name, topic_id)
        for name in OFFSET_CHECKPOINTS:
            _merge(folder / name, own / name, topics)
        if not (folder / CLEAN_SHUTDOWN).exists():
            (own / CLEAN_SHUTDOWN).unlink(missing_ok=True)

    return give


def _folders(folder: Path, topic: str) -> list[Path]:
    form = re.compile(re.escape(topic) + r"-\d+")
    return [each for each in folder.iterdir() if form.fullmatch(each.name)]


def _id_of(folder: Path) -> UUID:
    return read_partition_metadata((folder / PARTITION_METADATA).read_bytes()).topic_id


def _name(folder: Path, topic_id: UUID) -> None:
    """Who has no ids yet notes none, and a folder without one is a stray to all that have them."""
    data = partition_metadata_bytes(PartitionMetadata(0, topic_id))
    (folder / PARTITION_METADATA).write_bytes(data)


def _merge(theirs: Path, own: Path, topics: tuple[str, ...]) -> None:
    def read(path: Path) -> list[CheckpointedOffset]:
        data = path.read_bytes() if path.exists() else b""
        return read_offset_checkpoint(data) if data else []

    left = [one for one in read(own) if one.topic not in topics]
    taken = [one for one in read(theirs) if one.topic in topics]
    own.write_bytes(offset_checkpoint_bytes([*left, *taken]))

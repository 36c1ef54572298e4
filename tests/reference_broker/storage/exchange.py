"""Exchange of data folders between two brokers, and the data that both must serve then."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from harness.base.address import Address
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
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsRequest, MetadataRequest
from harness.codec.records.any_format import read_records
from harness.targets.reference import COMMAND, ReferenceBroker
from harness.targets.target import Target
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
    """The data of one partition, as soon as the broker serves it. It never creates the topic."""
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
    """Whole batches up to the end. The first may begin below `start`, which is inside it."""
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
    """The names of all topics in a broker's Metadata."""
    with Connection(address) as connection:
        answer = connection.ask(MetadataRequest(topics=None), 4)
    return sorted(topic.name or "" for topic in answer.topics)


# -- whole folders ---------------------------------------------------------------------------------


def cluster_in(folder: Path) -> str:
    """The id of the cluster to which a folder belongs."""
    return read_meta_properties((folder / META_PROPERTIES).read_bytes()).values["cluster.id"]


def kept(cluster: str = "", **options: object) -> ReferenceBroker:
    """The built-in broker; in the cluster with this id, if one is given."""
    command = [*COMMAND, "--cluster-id", cluster] if cluster else COMMAND
    return ReferenceBroker(on_disk=True, command=command, **options)  # type: ignore[arg-type]


def exchanged(target: Target, change: Callable[[Path], None]) -> Address:
    """Stop the target's node in good order, change its folder, and start it again."""
    (folder,) = target.log_directories(ONLY_NODE)
    target.stop_node(ONLY_NODE)
    change(folder)
    target.restart_node(ONLY_NODE)
    return target.addresses[0]


def given_whole(folder: Path) -> Callable[[Path], None]:
    """Make a function that replaces a data folder with a copy of this one."""

    def give(own: Path) -> None:
        shutil.rmtree(own)
        shutil.copytree(folder, own)

    return give


# -- single topics ---------------------------------------------------------------------------------


def given_topics(folder: Path, *topics: str) -> Callable[[Path], None]:
    """Make a function that replaces the folders of these topics, and the notes about them.

    The topics keep the ids that they have in the changed folder.
    """

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
    """Write a topic id: older releases note none; to the others a folder without one is a stray."""
    data = partition_metadata_bytes(PartitionMetadata(0, topic_id))
    (folder / PARTITION_METADATA).write_bytes(data)


def _merge(theirs: Path, own: Path, topics: tuple[str, ...]) -> None:
    def read(path: Path) -> list[CheckpointedOffset]:
        data = path.read_bytes() if path.exists() else b""
        return read_offset_checkpoint(data) if data else []

    left = [one for one in read(own) if one.topic not in topics]
    taken = [one for one in read(theirs) if one.topic in topics]
    own.write_bytes(offset_checkpoint_bytes([*left, *taken]))

"""Two small log directories of one broker that fit each other, and ways to change them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

from harness.codec.data_framing import (
    CLUSTER_METADATA,
    MetaProperties,
    PartitionMetadata,
    meta_properties_bytes,
    partition_metadata_bytes,
    read_meta_properties,
)
from harness.codec.data_framing.log_folder import META_PROPERTIES, PARTITION_METADATA
from harness.codec.messages import (
    FeatureLevelRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.record import Record
from harness.codec.structs import Message
from tests.reference_broker.storage.made_folder import name_of

NODE, OTHER_NODE = 1, 2
ORDERS, BILLS, UNKNOWN = UUID(int=1001), UUID(int=1002), UUID(int=1003)
NAMES = {ORDERS: "orders", BILLS: "bills"}
DIRECTORIES = UUID(int=2001), UUID(int=2002)
METADATA_LOG = "__cluster_metadata-0"
UNIQUE = "0" * 32
VERSIONS = {"PartitionRecord": 2, "PartitionChangeRecord": 2, "RegisterBrokerRecord": 4}
"""The versions of records that have several, as 4.4.0 writes them."""


def id_text(id_: UUID) -> str:
    return urlsafe_b64encode(id_.bytes).decode().rstrip("=")


class MadeBroker:
    """The folders of node 1: orders-0 and bills-0 in the first directory, orders-1 in the second.

    ``kraft``: version 1 of meta.properties, and the metadata log in the first directory; else
    those of a broker with ZooKeeper.
    """

    def __init__(self, folder: Path, *, kraft: bool = True) -> None:
        self.one, self.two = self.folders = (folder / "one", folder / "two")
        self.kraft = kraft
        for path, directory in zip(self.folders, DIRECTORIES, strict=True):
            path.mkdir()
            node_key = "node.id" if kraft else "broker.id"
            values = {"version": "1" if kraft else "0", node_key: str(NODE), "cluster.id": "c"}
            values |= {"directory.id": id_text(directory)} if kraft else {}
            (path / META_PROPERTIES).write_bytes(meta_properties_bytes(MetaProperties(values)))
        self.partition(self.one, "orders-0", ORDERS)
        self.partition(self.one, "bills-0", BILLS)
        self.partition(self.two, "orders-1", ORDERS)
        if kraft:
            self.write_metadata(self.one, list(known_records()))

    def partition(self, directory: Path, name: str, topic_id: UUID | None) -> Path:
        """Make a partition's folder with an empty segment; without a topic id if that is None."""
        path = directory / name
        path.mkdir()
        (path / name_of(0)).write_bytes(b"")
        if topic_id is not None:
            note = partition_metadata_bytes(PartitionMetadata(0, topic_id))
            (path / PARTITION_METADATA).write_bytes(note)
        return path

    def write_metadata(self, directory: Path, records: Sequence[Message | bytes]) -> None:
        """Write the metadata log anew; bytes are a record's value as it is."""
        folder = directory / METADATA_LOG
        folder.mkdir(exist_ok=True)
        values = [
            one if isinstance(one, bytes) else CLUSTER_METADATA.write(one, _version(one))
            for one in records
        ]
        batch = RecordBatch([Record(value) for value in values], partition_leader_epoch=1)
        (folder / name_of(0)).write_bytes(encode_batch(batch))
        (folder / name_of(0, ".index")).write_bytes(b"")

    def add_metadata(self, *records: Message | bytes) -> None:
        """Append records to those of a sound broker."""
        self.write_metadata(self.one, [*known_records(), *records])

    def change(self, directory: Path, **values: str | None) -> None:
        """Set keys of meta.properties, ``_`` for a dot; None removes one."""
        path = directory / META_PROPERTIES
        found = read_meta_properties(path.read_bytes()).values
        for name, value in values.items():
            found.pop(name.replace("_", "."), None)
            if value is not None:
                found[name.replace("_", ".")] = value
        path.write_bytes(meta_properties_bytes(MetaProperties(found)))


def known_records() -> Iterator[Message]:
    """Yield the records of a metadata log that fits the folders."""
    yield FeatureLevelRecord(name="metadata.version", feature_level=33)
    yield RegisterBrokerRecord(broker_id=NODE, log_dirs=list(DIRECTORIES))
    for topic_id, name in NAMES.items():
        yield TopicRecord(name=name, topic_id=topic_id)
    for topic_id, partition, place in ((ORDERS, 0, 0), (BILLS, 0, 0), (ORDERS, 1, 1)):
        yield replica(topic_id, partition, DIRECTORIES[place])


def replica(
    topic_id: UUID, partition: int, directory: UUID, replicas: Sequence[int] = (NODE,)
) -> PartitionRecord:
    """Return the record of a partition; each of its replicas is in ``directory``."""
    return PartitionRecord(
        partition_id=partition,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=list(replicas),
        leader=replicas[0],
        directories=[directory] * len(replicas),
    )


def _version(record: Message) -> int:
    return VERSIONS.get(type(record).__name__, 0)

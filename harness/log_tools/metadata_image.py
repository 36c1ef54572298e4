"""The topics, brokers and features that a metadata log knows, from its newest snapshot on.

Source: classes MetadataImage, MetadataDelta, BatchFileReader; KIP-630, KIP-866 (transactions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from harness.codec.data_framing.log_folder import METADATA_TOPIC, PartitionFolder
from harness.codec.data_framing.own_topics import own_record
from harness.log_tools.segment_reader import SegmentDamage, SegmentReader

Fields = dict[str, Any]
"""The fields of a record by name; ids are texts."""
_OFFSET_DIGITS = 20  # of a snapshot's name
_BEGIN, _END, _ABORT = "BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord"


class UnreadableImage(Exception):
    """The log has damage, which its own check reports, or lacks the snapshot before it."""


class UnknownMetadata(UnreadableImage):
    """A record of a type or version that no release up to the newest known one wrote."""

    def __init__(self, path: Path, offset: int, note: str) -> None:
        super().__init__(f"{path}: offset {offset}: {note}")
        self.path, self.offset, self.note = path, offset, note


@dataclass(slots=True)
class Assigned:
    """One partition: the ids of its replicas, and the log directory of each, where that is known.

    Before metadata.version 3.7-IV2 no directory is known.
    """

    replicas: list[int]
    directories: list[str]

    def directory_of(self, node_id: int) -> str | None:
        """Return the id of the log directory that a replica is in; None if it is not known."""
        if node_id not in self.replicas or len(self.directories) != len(self.replicas):
            return None
        return self.directories[self.replicas.index(node_id)]


class PartitionKey(NamedTuple):
    """A partition by the id of its topic."""

    topic_id: str
    partition: int


@dataclass(slots=True)
class MetadataImage:
    """The state behind the last record. ``topics``, ``deleted``: names by topic id.

    ``brokers``: the ids of the log directories that each registered broker has, none before 3.7.
    """

    topics: dict[str, str] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    partitions: dict[PartitionKey, Assigned] = field(default_factory=dict)
    brokers: dict[int, list[str]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)

    def apply(self, name: str, fields: Fields) -> None:
        """Apply one record, if it changes anything that is kept here."""
        change = _CHANGES.get(name)
        if change is not None:
            change(self, fields)

    def id_of(self, topic: str) -> str | None:
        """Return the id of the topic with this name; None if there is none."""
        return next((id_ for id_, name in self.topics.items() if name == topic), None)


def read_metadata_image(folder: PartitionFolder) -> MetadataImage:
    """Replay a metadata log: the newest snapshot, then all records behind it.

    Raises UnreadableImage, OSError.
    """
    image, start = MetadataImage(), 0
    if folder.metadata_snapshots:
        snapshot = max(folder.metadata_snapshots, key=lambda path: path.name)
        start = int(snapshot.name[:_OFFSET_DIGITS])
        for _, name, fields in _records(snapshot):
            image.apply(name, fields)
    segments = [segment for segment in folder.segments if segment.log is not None]
    if segments and segments[0].base_offset > start:
        raise UnreadableImage(f"no snapshot up to offset {segments[0].base_offset}")
    _replay(image, (each for one in segments if one.log for each in _records(one.log)), start)
    return image


def _replay(image: MetadataImage, records: Iterator[tuple[int, str, Fields]], start: int) -> None:
    """Apply the records from ``start`` on; those of a transaction at its end."""
    pending: list[tuple[str, Fields]] | None = None
    for offset, name, fields in records:
        if offset < start:
            continue
        if name == _BEGIN:
            pending = []
        elif name in (_END, _ABORT):
            for each in pending or () if name == _END else ():
                image.apply(*each)
            pending = None
        elif pending is not None:
            pending.append((name, fields))
        else:
            image.apply(name, fields)


def _records(path: Path) -> Iterator[tuple[int, str, Fields]]:
    """Yield (offset, schema, fields) of the data records of one file."""
    with SegmentReader(path) as reader:
        for batch in reader.batches():
            if isinstance(batch, SegmentDamage):
                raise UnreadableImage(f"{path}: {batch.problem}")
            if batch.is_control:
                continue
            for record in batch.records:
                own = own_record(METADATA_TOPIC, record.key, record.value)
                assert own is not None, "records of the metadata log have schemas"
                if own.value is None:
                    raise UnknownMetadata(path, record.offset, own.note)
                yield record.offset, own.value["schema"], own.value["fields"]


def _topic(image: MetadataImage, fields: Fields) -> None:
    image.topics[fields["topic_id"]] = fields["name"]


def _partition(image: MetadataImage, fields: Fields) -> None:
    key = PartitionKey(fields["topic_id"], fields["partition_id"])
    image.partitions[key] = Assigned(fields["replicas"], fields.get("directories") or [])


def _partition_change(image: MetadataImage, fields: Fields) -> None:
    found = image.partitions.get(PartitionKey(fields["topic_id"], fields["partition_id"]))
    if found is None:
        return
    if fields.get("replicas") is not None:
        found.replicas, found.directories = fields["replicas"], []
    if fields.get("directories") is not None:
        found.directories = fields["directories"]


def _topic_removal(image: MetadataImage, fields: Fields) -> None:
    topic_id = fields["topic_id"]
    name = image.topics.pop(topic_id, None)
    if name is not None:
        image.deleted[topic_id] = name
    for key in [key for key in image.partitions if key.topic_id == topic_id]:
        del image.partitions[key]


def _broker(image: MetadataImage, fields: Fields) -> None:
    image.brokers[fields["broker_id"]] = fields.get("log_dirs") or []


def _broker_change(image: MetadataImage, fields: Fields) -> None:
    if fields.get("log_dirs") and fields["broker_id"] in image.brokers:
        image.brokers[fields["broker_id"]] = fields["log_dirs"]


def _broker_removal(image: MetadataImage, fields: Fields) -> None:
    image.brokers.pop(fields["broker_id"], None)


def _feature(image: MetadataImage, fields: Fields) -> None:
    image.features[fields["name"]] = fields["feature_level"]


_CHANGES: Mapping[str, Callable[[MetadataImage, Fields], None]] = {
    "TopicRecord": _topic,
    "RemoveTopicRecord": _topic_removal,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_change,
    "RegisterBrokerRecord": _broker,
    "BrokerRegistrationChangeRecord": _broker_change,
    "UnregisterBrokerRecord": _broker_removal,
    "FeatureLevelRecord": _feature,
}

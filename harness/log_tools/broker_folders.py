"""The log directories of one broker, read together: its identity, and the metadata log in them."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from harness.codec.data_framing import read_meta_properties, read_partition_metadata
from harness.codec.data_framing.log_folder import (
    META_PROPERTIES,
    METADATA_TOPIC,
    PARTITION_METADATA,
    LogDirectoryFiles,
    PartitionFolder,
)
from harness.codec.errors import DecodeError
from harness.log_tools.folder_names import FUTURE, parse_folder_name
from harness.log_tools.metadata_image import (
    MetadataImage,
    PartitionKey,
    UnknownMetadata,
    UnreadableImage,
    read_metadata_image,
)

CLUSTER_ID, NODE_ID, BROKER_ID, DIRECTORY_ID = "cluster.id", "node.id", "broker.id", "directory.id"
HIGHEST_RESERVED = 99
"""The highest of the ids that no log directory may have (class DirectoryId)."""
_ID_BYTES = 16


@dataclass(frozen=True, slots=True)
class Identity:
    """``meta.properties`` of one log directory.

    ``values``: None where the file is missing, empty where it cannot be read.
    """

    directory: LogDirectoryFiles
    values: Mapping[str, str] | None

    @property
    def path(self) -> Path:
        """The path of the file, also of a missing one."""
        return self.directory.path / META_PROPERTIES

    @property
    def id_key(self) -> str:
        """The key of the node's id, which depends on the version."""
        return NODE_ID if (self.values or {}).get("version") == "1" else BROKER_ID

    @property
    def node_id(self) -> int | None:
        """The node's id; None where there is none, or no number."""
        word = (self.values or {}).get(self.id_key, "")
        return int(word) if word.isascii() and word.isdecimal() else None

    @property
    def directory_id(self) -> UUID | None:
        """The id of the directory; None where there is none, or no id."""
        return read_id((self.values or {}).get(DIRECTORY_ID, ""))


def read_id(text: str) -> UUID | None:
    """Return an id from Kafka's text form, 22 characters of URL-safe base64; None if it is none."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    return UUID(bytes=raw) if len(raw) == _ID_BYTES else None


class KnownReplicas(NamedTuple):
    """The metadata log, with the id of a node that it has as a broker."""

    image: MetadataImage
    node_id: int

    @property
    def directories(self) -> list[str]:
        """The ids of the broker's log directories; none before 3.7."""
        return self.image.brokers[self.node_id]

    def directory_of(self, topic: str, partition: int) -> str | None:
        """Return the id of the directory of the node's replica; None if it is not known."""
        key = PartitionKey(self.image.id_of(topic) or "", partition)
        assigned = self.image.partitions.get(key)
        return None if assigned is None else assigned.directory_of(self.node_id)


@dataclass(frozen=True, slots=True)
class BrokerFolders:
    """The log directories of one broker.

    ``image``: of the metadata log in one of them; None where there is none, or it cannot be read.
    ``unknown``: the record that keeps it from being read.
    """

    identities: tuple[Identity, ...]
    image: MetadataImage | None
    unknown: UnknownMetadata | None = None

    @property
    def directories(self) -> Iterator[LogDirectoryFiles]:
        """The log directories in the given order."""
        return (each.directory for each in self.identities)

    @property
    def partitions(self) -> Iterator[PartitionFolder]:
        """All folders of partitions but that of the metadata log."""
        for directory in self.directories:
            for folder in directory.partitions:
                if not is_metadata_log(folder):
                    yield folder

    @property
    def node_id(self) -> int | None:
        """The id of the node; None where the directories name none, or several."""
        found = {each.node_id for each in self.identities} - {None}
        return found.pop() if len(found) == 1 else None

    @property
    def is_kraft(self) -> bool:
        """True if the node belongs to a KRaft cluster; False with ZooKeeper, or not known."""
        if any(is_metadata_log(one) for each in self.directories for one in each.partitions):
            return True
        keys = {each.id_key for each in self.identities if each.values}
        return keys == {NODE_ID}

    @property
    def known(self) -> KnownReplicas | None:
        """The metadata log beside the folders; None unless it has the node as a broker."""
        if self.image is None or self.node_id is None or self.node_id not in self.image.brokers:
            return None
        return KnownReplicas(self.image, self.node_id)

    @property
    def promoted(self) -> set[tuple[str, int]]:
        """The partitions with a future log that takes the place of the present one at a start.

        Its log directory is that of the metadata log, as behind a move that a crash ended. Source:
        class LogManager (recoverAbandonedFutureLogs, since 3.7).
        """
        known, found = self.known, set()
        for each in self.identities if known is not None else ():
            for path in each.directory.others:
                name = parse_folder_name(path.name)
                if known is None or name is None or name.suffix != FUTURE:
                    continue
                place = known.directory_of(name.topic, name.partition)
                if place is not None and place == str(each.directory_id):
                    found.add((name.topic, name.partition))
        return found

    @property
    def is_complete(self) -> bool:
        """True if no other log directory of the broker is known.

        Without a metadata log that names them, several given directories count as all.
        """
        known = self.known
        if known is None:
            return len(self.identities) > 1
        return {str(each.directory_id) for each in self.identities} >= set(known.directories)


def is_metadata_log(folder: PartitionFolder) -> bool:
    """True if the folder is that of the metadata log of KRaft."""
    return folder.topic == METADATA_TOPIC


def topic_id_of(folder: PartitionFolder) -> UUID | None:
    """Return the topic id beside a log; None where the file is missing or cannot be read."""
    for path in folder.notes:
        if path.name == PARTITION_METADATA:
            try:
                return read_partition_metadata(path.read_bytes()).topic_id
            except DecodeError:
                return None
    return None


def read_broker_folders(directories: Sequence[LogDirectoryFiles]) -> BrokerFolders:
    """Read what concerns all log directories of a broker. Raises OSError."""
    identities = tuple(Identity(each, _values(each)) for each in directories)
    logs = [one for each in directories for one in each.partitions if is_metadata_log(one)]
    if len(logs) != 1:
        return BrokerFolders(identities, None)
    try:
        return BrokerFolders(identities, read_metadata_image(logs[0]))
    except UnknownMetadata as problem:
        return BrokerFolders(identities, None, problem)
    except UnreadableImage:
        return BrokerFolders(identities, None)


def _values(directory: LogDirectoryFiles) -> Mapping[str, str] | None:
    for path in directory.notes:
        if path.name == META_PROPERTIES:
            try:
                return read_meta_properties(path.read_bytes()).values
            except DecodeError:
                return {}
    return None

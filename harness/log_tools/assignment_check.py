"""The check of partitions' folders against their topic ids and the metadata log of KRaft.

Source: classes LogManager (isStrayKraftReplica), Partition (createLogInAssignedDirectoryId),
BrokerMetadataPublisher (findStrayPartitions, up to 3.7); KIP-516, KIP-858.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from harness.codec.data_framing.log_folder import PARTITION_METADATA, PartitionFolder
from harness.log_tools.at_start import found
from harness.log_tools.broker_folders import (
    DIRECTORY_ID,
    HIGHEST_RESERVED,
    BrokerFolders,
    KnownReplicas,
    is_metadata_log,
    topic_id_of,
)
from harness.log_tools.findings import Finding
from harness.log_tools.metadata_image import MetadataImage, PartitionKey

_ZERO = UUID(int=0)


def check_assignments(broker: BrokerFolders) -> Iterator[Finding]:
    """Yield folders with a wrong topic id, folders of no replica, and replicas without a folder.

    Without a metadata log only the ids of one topic are compared with each other.
    """
    if broker.unknown is not None:
        unknown = broker.unknown
        problem = f"{unknown.note}; no folder is compared with the metadata log"
        yield found(unknown.path, "metadata-record", problem, unknown.offset)
    known, ids = broker.known, dict[str, tuple[PartitionFolder, UUID]]()
    for folder in broker.partitions:
        path = folder.path / PARTITION_METADATA
        topic_id = topic_id_of(folder)
        if not any(note.name == PARTITION_METADATA for note in folder.notes):
            if broker.is_kraft:
                yield found(path, "topic-id-missing", "it is not there")
        elif topic_id is None or folder.topic is None:
            continue  # the check of the file reports that it cannot be read
        elif topic_id == _ZERO:
            yield found(path, "topic-id-zero", "the topic id is zero")
        elif known is not None:
            yield from _against_image(known, folder, folder.topic, str(topic_id))
        else:
            first, other = ids.setdefault(folder.topic, (folder, topic_id))
            if other != topic_id:
                problem = f"topic id {topic_id}, in {first.path} it is {other}"
                yield found(path, "topic-id-differs", problem)
    if known is not None:
        yield from _unknown_directories(broker, known)
        yield from _missing(broker, known)


def _against_image(
    known: KnownReplicas, folder: PartitionFolder, topic: str, id_: str
) -> Iterator[Finding]:
    path, partition = folder.path / PARTITION_METADATA, folder.partition or 0
    assigned = known.image.partitions.get(PartitionKey(id_, partition))
    name = known.image.topics.get(id_)
    if name is None:
        yield _unknown_id(known.image, folder.path, topic, id_)
    elif name != topic:
        yield found(path, "topic-id-of-another", f"topic id {id_} is that of topic {name}")
    elif assigned is None:
        problem = f"topic {name} has no partition {partition}"
        yield found(folder.path, "partition-stray", problem)
    elif known.node_id not in assigned.replicas:
        problem = f"its replicas are {assigned.replicas}, not node {known.node_id}"
        yield found(folder.path, "partition-stray", problem)


def _unknown_directories(broker: BrokerFolders, known: KnownReplicas) -> Iterator[Finding]:
    """Yield log directories with partitions that the metadata log does not have by their id.

    Before 3.7 it has none. A new and empty log directory gets its id registered at the start.
    """
    for each in broker.identities if known.directories else ():
        own, is_named = each.directory_id, DIRECTORY_ID in (each.values or {})
        is_read = (own is not None and own.int > HIGHEST_RESERVED) or not is_named
        has_logs = any(not is_metadata_log(one) for one in each.directory.partitions)
        if each.values and is_read and has_logs and str(own) not in known.directories:
            word = f"{DIRECTORY_ID} {own}" if is_named else f"no {DIRECTORY_ID}"
            problem = f"{word}, the metadata log has {', '.join(sorted(known.directories))}"
            yield found(each.path, "directory-unlike", problem)


def _unknown_id(image: MetadataImage, folder: Path, topic: str, id_: str) -> Finding:
    own_id = image.id_of(topic)
    if id_ in image.deleted:
        again = "" if own_id is None else f"; another topic of that name has id {own_id}"
        return found(folder, "partition-deleted", f"topic {image.deleted[id_]} was deleted{again}")
    if own_id is None:
        problem = f"no topic has id {id_}, or the name {topic}"
        return found(folder, "partition-stray", problem)
    problem = f"topic id {id_}, in the metadata log it is {own_id}"
    return found(folder / PARTITION_METADATA, "topic-id-unlike", problem)


def _missing(broker: BrokerFolders, known: KnownReplicas) -> Iterator[Finding]:
    """Yield replicas that the metadata log places into a given directory, and that have no folder.

    A replica without a known directory may have no folder yet. Where the only log directory has no
    id yet (before 3.7), all replicas are in it. Nothing is missing while a directory is not given.
    """
    if not broker.is_complete:
        return
    there = {(folder.topic, folder.partition) for folder in broker.partitions} | broker.promoted
    directories = {str(each.directory_id): each for each in broker.identities}
    only = None if known.directories else broker.identities[0]
    for key, assigned in known.image.partitions.items():
        name = known.image.topics.get(key.topic_id)
        place = directories.get(assigned.directory_of(known.node_id) or "")
        if only is not None and known.node_id in assigned.replicas:
            place = only
        if name is None or place is None or (name, key.partition) in there:
            continue
        path = place.directory.path / f"{name}-{key.partition}"
        yield found(path, "partition-missing", "the metadata log has this replica here")

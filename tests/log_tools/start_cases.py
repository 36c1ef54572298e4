"""Files that do not fit each other, and what real brokers of each era do with them at their start.

Tried by ``test_kafka_starts.py``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple
from uuid import UUID, uuid4

from harness.codec.data_framing import (
    CheckpointedOffset,
    MetaProperties,
    PartitionMetadata,
    meta_properties_bytes,
    offset_checkpoint_bytes,
    partition_metadata_bytes,
    read_meta_properties,
)
from harness.codec.data_framing.log_folder import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_STARTS,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
)
from tests.log_tools.kafka_starts import OTHER, TOPIC, Starts
from tests.log_tools.made_broker import METADATA_LOG, UNIQUE, id_text

MODES = {"0.10.2.2": "zk", "2.8.2": "zk", "3.9.2": "kraft", "4.4.0": "kraft"}
OLDEST, ZOOKEEPER, KRAFT, NEWEST = MODES
BEYOND = 99
Change = Callable[[Starts], object]


class Result(Enum):
    """The state of a partition, and of its broker, after the start."""

    STOPS = "the broker does not start"
    SERVED = "the partition is served as it was"
    EMPTY = "the partition is served, and is empty"
    STRAY = "a folder is renamed to -stray, the partition is served as it was"
    STRAY_EMPTY = "a folder is renamed to -stray, the partition is served, and is empty"
    CUT = "the partition begins and ends at the offset beyond its end"
    NOT_SERVED = "the broker starts, and does not serve the partition"


STOPS, SERVED, EMPTY, STRAY, STRAY_EMPTY, CUT, NOT_SERVED = Result
Seen = tuple[Result, str]
"""The result, and for ``STOPS`` and ``NOT_SERVED`` a part of what the broker logs."""


class Case(NamedTuple):
    """A change of the folders; ``kinds``: of the findings then; ``seen``: by release."""

    change: Change
    kinds: set[str]
    seen: dict[str, Seen]


def in_all(result: Result, text: str = "", *, since: str = OLDEST) -> dict[str, Seen]:
    """The same in all releases from ``since`` on."""
    releases = list(MODES)
    return dict.fromkeys(releases[releases.index(since) :], (result, text))


def meta(**changes: str | None) -> Change:
    """Set keys in the second directory, ``_`` for a dot; ``node_id`` under its name there."""

    def change(starts: Starts) -> None:
        path = starts.two / META_PROPERTIES
        values = read_meta_properties(path.read_bytes()).values
        for name, value in changes.items():
            key = name.replace("_", ".")
            key = "broker.id" if key == "node.id" and "broker.id" in values else key
            values.pop(key, None)
            if value is not None:
                values[key] = value
        path.write_bytes(meta_properties_bytes(MetaProperties(values)))

    return change


def other_version(starts: Starts) -> None:
    values = read_meta_properties((starts.two / META_PROPERTIES).read_bytes()).values
    if values["version"] == "0":
        meta(version="1", node_id=None)(starts)
        with (starts.two / META_PROPERTIES).open("a") as file:
            file.write("node.id=1\n")
    else:
        meta(version="0", node_id=None, broker_id="1")(starts)


def other_cluster(starts: Starts) -> None:
    """Name another cluster; the oldest releases name none."""
    path = starts.one / META_PROPERTIES
    if "cluster.id" not in read_meta_properties(path.read_bytes()).values:
        with path.open("a") as file:
            file.write("cluster.id=c\n")
    meta(cluster_id="d")(starts)


def same_directory(starts: Starts) -> None:
    path = starts.one / META_PROPERTIES
    values = read_meta_properties(path.read_bytes()).values
    values.setdefault("directory.id", id_text(uuid4()))
    path.write_bytes(meta_properties_bytes(MetaProperties(values)))
    meta(directory_id=values["directory.id"])(starts)


def copied(to: str) -> Change:
    """Copy the partition's folder to a path in which ``{}`` is its name."""
    return lambda starts: shutil.copytree(
        starts.folder, starts.one.parent / to.format(starts.folder.name)
    )


def moved(to: str) -> Change:
    return lambda starts: starts.folder.rename(starts.one.parent / to.format(starts.folder.name))


def both(*changes: Change) -> Change:
    def change(starts: Starts) -> None:
        for each in changes:
            each(starts)

    return change


def topic_id(id_: UUID, name: str = "{}") -> Change:
    def change(starts: Starts) -> None:
        note = partition_metadata_bytes(PartitionMetadata(0, id_))
        folder = starts.two / name.format(starts.folder.name)
        (folder / PARTITION_METADATA).write_bytes(note)

    return change


def id_of_other_topic(starts: Starts) -> None:
    source = next(starts.one.parent.glob(f"*/{OTHER}-*")) / PARTITION_METADATA
    shutil.copy(source, starts.folder)


def checkpoint(name: str) -> Change:
    def change(starts: Starts) -> None:
        entry = CheckpointedOffset(TOPIC, starts.victim, BEYOND)
        (starts.two / name).write_bytes(offset_checkpoint_bytes([entry]))

    return change


def without_checkpoints(starts: Starts) -> None:
    for folder in (starts.one, starts.two):
        for name in OFFSET_CHECKPOINTS:
            (folder / name).unlink(missing_ok=True)


DIFFER = "BrokerMetadata is not consistent across log.dirs"
NO_PARTITION = "is not in the form of topic-partition"
FUTURE = f"{{}}.{UNIQUE}-future"
OTHER_FUTURE = FUTURE.replace("0-future", "1-future")
WRONG: dict[str, Case] = {
    "no meta.properties": Case(
        lambda starts: (starts.two / META_PROPERTIES).unlink(),
        {"meta-missing"},
        in_all(SERVED) | in_all(STOPS, "No `meta.properties` found in", since=KRAFT),
    ),
    "no node id": Case(
        meta(node_id=None),
        {"meta-key"},
        {OLDEST: (STOPS, "Missing required property 'broker.id'"), ZOOKEEPER: (STOPS, DIFFER)}
        | in_all(NOT_SERVED, "Failed to find node.id", since=KRAFT),
    ),
    "no cluster id": Case(
        meta(cluster_id=None),
        {"meta-key"},
        in_all(STOPS, DIFFER, since=ZOOKEEPER)
        | in_all(NOT_SERVED, "cluster.id was not found", since=KRAFT),
    ),
    "a node id that is a word": Case(
        meta(node_id="x"),
        {"meta-value"},
        {OLDEST: (STOPS, 'For input string: "x"'), ZOOKEEPER: (STOPS, DIFFER)}
        | in_all(NOT_SERVED, "Unable to read node.id as a base-10 number", since=KRAFT),
    ),
    "a directory id that is none": Case(
        meta(directory_id="x"),
        {"meta-value"},
        in_all(NOT_SERVED, "Unable to read directory.id as a Uuid", since=KRAFT),
    ),
    "a reserved directory id": Case(
        meta(directory_id=id_text(UUID(int=1))),
        {"meta-reserved"},
        in_all(STOPS, " directory ID AAAAAAAAAAAAAAAAAAAAAQ found in", since=KRAFT),
    ),
    "another cluster": Case(
        other_cluster,
        {"meta-cluster"},
        {OLDEST: (SERVED, ""), ZOOKEEPER: (STOPS, DIFFER)}
        | in_all(STOPS, "Invalid cluster.id in", since=KRAFT),
    ),
    "another node": Case(
        meta(node_id="77"),
        {"meta-node"},
        {OLDEST: (STOPS, "Failed to match broker.id across"), ZOOKEEPER: (STOPS, DIFFER)}
        | in_all(STOPS, "Stored node id 77 doesn't match", since=KRAFT),
    ),
    "one directory id in two directories": Case(
        same_directory,
        {"meta-directory"},
        in_all(SERVED) | in_all(STOPS, "Duplicate directory ID", since=KRAFT),
    ),
    "another directory id than in the metadata log": Case(
        meta(directory_id=id_text(UUID(int=2**100))),
        {"directory-unlike"},
        {KRAFT: (SERVED, "")},  # with NEWEST it depends on the start
    ),
    "two versions of meta.properties": Case(
        other_version,
        {"meta-version"},
        {OLDEST: (STOPS, "Unrecognized version of the server meta.properties")}
        | {ZOOKEEPER: (STOPS, DIFFER)}
        | in_all(SERVED, since=KRAFT),
    ),
    "a folder of another program": Case(
        lambda starts: (starts.two / "lost+found").mkdir(),
        {"folder-name"},
        in_all(STOPS, NO_PARTITION),
    ),
    "a partition in two directories": Case(
        copied("one/{}"), {"partition-twice"}, in_all(STOPS, "Duplicate log directories")
    ),
    "the metadata log in two directories": Case(
        lambda starts: shutil.copytree(starts.one / METADATA_LOG, starts.two / METADATA_LOG),
        {"metadata-log-twice"},
        in_all(STOPS, "Found unexpected metadata location", since=KRAFT),
    ),
    "two future logs of a partition": Case(
        both(copied(f"one/{FUTURE}"), copied(f"one/{OTHER_FUTURE}")),
        {"future-twice"},
        in_all(STOPS, "Duplicate log directories found") | {OLDEST: (STOPS, NO_PARTITION)},
    ),
    "a future log beside its present one": Case(
        copied(f"two/{FUTURE}"),
        {"future-beside-present"},
        in_all(STOPS, "Error while renaming dir for")
        | {OLDEST: (STOPS, NO_PARTITION), ZOOKEEPER: (NOT_SERVED, "Error while renaming dir for")},
    ),
    "a future log without a present one, ZooKeeper": Case(
        moved(f"one/{FUTURE}"),
        {"future-alone"},
        {OLDEST: (STOPS, NO_PARTITION), ZOOKEEPER: (EMPTY, "")},
    ),
    "a future log without a present one, KRaft": Case(
        moved(f"one/{FUTURE}"), {"future-alone", "partition-missing"}, in_all(EMPTY, since=KRAFT)
    ),
    "no topic id": Case(
        lambda starts: (starts.folder / PARTITION_METADATA).unlink(),
        {"topic-id-missing"},
        in_all(STRAY_EMPTY, since=KRAFT),
    ),
    "topic id zero": Case(
        topic_id(UUID(int=0)),
        {"topic-id-zero"},
        {OLDEST: (SERVED, ""), ZOOKEEPER: (STOPS, "Invalid topic ID in partition metadata")}
        | in_all(NOT_SERVED, "Invalid topic ID in partition metadata", since=KRAFT),
    ),
    "another topic id than in the metadata log": Case(
        topic_id(uuid4()), {"topic-id-unlike"}, in_all(STRAY_EMPTY, since=KRAFT)
    ),
    "the topic id of another topic": Case(
        id_of_other_topic,
        {"topic-id-of-another"},
        in_all(NOT_SERVED, "InconsistentTopicIdException", since=KRAFT),
    ),
    "a folder of no topic": Case(
        both(copied("two/ghost-0"), topic_id(uuid4(), "ghost-0")),
        {"partition-stray"},
        in_all(STRAY, since=KRAFT),
    ),
    "a folder of no partition": Case(
        copied(f"two/{TOPIC}-5"), {"partition-stray"}, in_all(STRAY, since=KRAFT)
    ),
    "a topic that was deleted": Case(
        lambda starts: shutil.copytree(starts.gone, starts.two / starts.gone.name),
        {"partition-deleted"},
        in_all(STRAY, since=KRAFT),
    ),
    "a replica without a folder": Case(
        lambda starts: shutil.rmtree(starts.folder),
        {"partition-missing"},
        in_all(EMPTY, since=KRAFT),
    ),
    "a log start offset beyond the log's end": Case(
        checkpoint(LOG_STARTS),
        {"checkpoint-offset"},
        in_all(CUT) | {OLDEST: (SERVED, "")},
    ),
    "a recovery point beyond the log's end": Case(
        checkpoint(RECOVERY_POINTS), {"checkpoint-offset"}, in_all(SERVED)
    ),
    "a high watermark beyond the log's end": Case(
        checkpoint(HIGH_WATERMARKS), {"checkpoint-offset"}, in_all(SERVED)
    ),
    "a cleaner's offset beyond the log's end": Case(
        checkpoint(CLEANER_OFFSETS), {"checkpoint-offset"}, in_all(SERVED)
    ),
}
SOUND: dict[str, Case] = {
    "nothing changed": Case(lambda _: None, set(), in_all(SERVED)),
    "a partition that is being moved": Case(
        copied(f"one/{FUTURE}"), set(), in_all(SERVED, since=ZOOKEEPER)
    ),
    "a move that a crash ended": Case(moved(f"two/{FUTURE}"), set(), in_all(SERVED, since=KRAFT)),
    "a folder of a deleted partition": Case(
        copied(f"one/{{}}.{UNIQUE}-delete"), set(), in_all(SERVED)
    ),
    "a stray folder": Case(copied(f"one/{{}}.{UNIQUE}-stray"), set(), in_all(SERVED, since=KRAFT)),
    "a folder that was moved by hand": Case(moved("one/{}"), set(), in_all(SERVED)),
    "an index cache of remote logs": Case(
        lambda starts: (starts.two / "remote-log-index-cache").mkdir(),
        set(),
        in_all(SERVED, since=KRAFT),
    ),
    "no checkpoints": Case(without_checkpoints, set(), in_all(SERVED)),
}
CASES = WRONG | SOUND

"""Remnants of other releases, and what real brokers of each era do with them at their start.

Tried by ``test_kafka_releases.py``.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from harness.codec.data_framing import (
    CLUSTER_METADATA,
    MetaProperties,
    PartitionMetadata,
    meta_properties_bytes,
    offset_checkpoint_bytes,
    partition_metadata_bytes,
    read_meta_properties,
)
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    PARTITION_METADATA,
    QUORUM_STATE,
    RECOVERY_POINTS,
)
from harness.codec.messages import FeatureLevelRecord
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.record import Record
from harness.log_tools.segment_reader import SegmentDamage, SegmentReader
from tests.log_tools.kafka_starts import Starts
from tests.log_tools.made_broker import METADATA_LOG, UNIQUE, id_text
from tests.log_tools.start_cases import (
    KRAFT,
    NEWEST,
    NOT_SERVED,
    OLDEST,
    SERVED,
    STOPS,
    ZOOKEEPER,
    Change,
    Result,
    both,
)

MORE = 3  # records in a planted batch


class ReleaseSeen(NamedTuple):
    """``kind``: of the finding for this release, empty for none. ``text``: in the broker's log.

    ``more``: offsets behind those that were written, of a partition that is served.
    """

    result: Result
    kind: str = ""
    text: str = ""
    more: int = 0


class ReleaseCase(NamedTuple):
    """A change of the folders, and what was seen by release."""

    change: Change
    seen: dict[str, ReleaseSeen]


def each_directory(change: Callable[[int, Path], object]) -> Change:
    def changed(starts: Starts) -> None:
        for number, folder in enumerate((starts.one, starts.two)):
            change(number, folder)

    return changed


def _of_kraft(_: int, folder: Path) -> None:
    path = folder / META_PROPERTIES
    values = read_meta_properties(path.read_bytes()).values
    cluster = values.get("cluster.id", id_text(UUID(int=7)))
    changed = {"version": "1", "node.id": values["broker.id"], "cluster.id": cluster}
    path.write_bytes(meta_properties_bytes(MetaProperties(changed)))


def of_zookeeper(starts: Starts) -> None:
    """Leave nothing that KRaft alone has, but for the topic ids."""
    shutil.rmtree(starts.one / METADATA_LOG)
    for folder in (starts.one, starts.two):
        (folder / "bootstrap.checkpoint").unlink(missing_ok=True)
        path = folder / META_PROPERTIES
        values = read_meta_properties(path.read_bytes()).values
        changed = {
            "version": "0",
            "broker.id": values["node.id"],
            "cluster.id": values["cluster.id"],
        }
        path.write_bytes(meta_properties_bytes(MetaProperties(changed)))


def _with_directory_id(number: int, folder: Path) -> None:
    with (folder / META_PROPERTIES).open("a") as file:
        file.write(f"directory.id={id_text(UUID(int=5000 + number))}\n")


def _with_broker_epoch(_: int, folder: Path) -> None:
    (folder / CLEAN_SHUTDOWN).write_text('{"version":0,"brokerEpoch":5}')


def _killed(_: int, folder: Path) -> None:
    (folder / CLEAN_SHUTDOWN).unlink(missing_ok=True)
    (folder / RECOVERY_POINTS).write_bytes(offset_checkpoint_bytes([]))


def later_topic_id(starts: Starts) -> None:
    note = partition_metadata_bytes(PartitionMetadata(1, UUID(int=77)))
    path = starts.folder / PARTITION_METADATA
    if path.exists():
        note = path.read_bytes().replace(b"version: 0", b"version: 1")
    path.write_bytes(note)


def later_batch(starts: Starts) -> None:
    """Append a batch of magic 2 to the log; its indexes have no entry for it, as they may."""
    log = max(starts.folder.glob("*.log"))
    with log.open("ab") as file:
        file.write(_batch([b"later"] * MORE, starts.written[1]))


def _batch(values: list[bytes], base_offset: int, epoch: int = 0) -> bytes:
    records = [Record(value) for value in values]
    now = int(time.time() * 1000)
    return encode_batch(
        RecordBatch(
            records, base_offset=base_offset, base_timestamp=now, partition_leader_epoch=epoch
        )
    )


def feature(name: str, level: int) -> Change:
    """Append a record to the metadata log."""

    def change(starts: Starts) -> None:
        log = max((starts.one / METADATA_LOG).glob("*.log"))
        with SegmentReader(log) as reader:
            *_, last = reader.batches()
        assert not isinstance(last, SegmentDamage)
        value = CLUSTER_METADATA.write(FeatureLevelRecord(name=name, feature_level=level), 0)
        with log.open("ab") as file:
            file.write(_batch([value], last.last_offset + 1, last.partition_leader_epoch))

    return change


def later_quorum_state(starts: Starts) -> None:
    path = starts.one / METADATA_LOG / QUORUM_STATE
    found = json.loads(path.read_text())
    kept = {name: found[name] for name in ("leaderId", "leaderEpoch", "votedId")}
    path.write_text(
        json.dumps(kept | {"votedDirectoryId": id_text(UUID(int=0)), "data_version": 1})
    )


NO_NAME = "is not in the form of topic-partition"
UNSUPPORTED = "but this controller only supports versions 0"
AS_BEFORE = ReleaseSeen(SERVED)
RELEASE_CASES: dict[str, ReleaseCase] = {
    "meta.properties of KRaft": ReleaseCase(
        each_directory(_of_kraft),
        {
            OLDEST: ReleaseSeen(STOPS, "release-kraft", "Unrecognized version of the server meta"),
            ZOOKEEPER: ReleaseSeen(STOPS, "release-kraft", "only support version 0"),
        },
    ),
    "log directories of a broker with ZooKeeper": ReleaseCase(
        of_zookeeper,
        {NEWEST: ReleaseSeen(NOT_SERVED, "release-zookeeper", "marked stray and renamed to")},
    ),
    "ids of log directories": ReleaseCase(
        each_directory(_with_directory_id),
        {
            OLDEST: AS_BEFORE,
            ZOOKEEPER: ReleaseSeen(
                STOPS, "release-directory-id", "BrokerMetadata is not consistent across log.dirs"
            ),
        },
    ),
    "the broker's epoch in the note of a clean shutdown": ReleaseCase(
        each_directory(_with_broker_epoch),
        {OLDEST: AS_BEFORE, ZOOKEEPER: AS_BEFORE, KRAFT: AS_BEFORE, NEWEST: AS_BEFORE},
    ),
    "a stray folder": ReleaseCase(
        lambda starts: shutil.copytree(
            starts.folder, starts.two / f"{starts.folder.name}.{UNIQUE}-stray"
        ),
        {
            OLDEST: ReleaseSeen(STOPS, "release-folder", NO_NAME),
            ZOOKEEPER: ReleaseSeen(STOPS, "release-folder", NO_NAME),
            KRAFT: AS_BEFORE,
            NEWEST: AS_BEFORE,
        },
    ),
    "an index cache of remote logs": ReleaseCase(
        lambda starts: (starts.two / "remote-log-index-cache").mkdir(),
        {
            OLDEST: ReleaseSeen(STOPS, "release-folder", NO_NAME),
            ZOOKEEPER: ReleaseSeen(STOPS, "release-folder", NO_NAME),
            KRAFT: AS_BEFORE,
            NEWEST: AS_BEFORE,
        },
    ),
    "a later version of partition.metadata": ReleaseCase(
        later_topic_id,
        {
            OLDEST: AS_BEFORE,
            ZOOKEEPER: ReleaseSeen(
                STOPS, "release-topic-id", "Unrecognized version of partition metadata file"
            ),
            KRAFT: AS_BEFORE,
            NEWEST: AS_BEFORE,
        },
    ),
    "records of magic 2 behind a kill": ReleaseCase(
        both(later_batch, each_directory(_killed)),
        {OLDEST: ReleaseSeen(SERVED, "release-magic", "Found invalid messages in log segment")},
    ),
    "records of magic 2 behind a clean shutdown": ReleaseCase(
        later_batch,
        {
            OLDEST: ReleaseSeen(SERVED, "release-magic", more=1),
            ZOOKEEPER: ReleaseSeen(SERVED, more=MORE),
        },
    ),
    "a higher metadata.version": ReleaseCase(
        feature("metadata.version", 99),
        {
            KRAFT: ReleaseSeen(
                STOPS, "release-metadata-version", "No MetadataVersion with feature level 99"
            ),
            NEWEST: ReleaseSeen(
                STOPS, "release-metadata-version", "No MetadataVersion with feature level 99"
            ),
        },
    ),
    "the next metadata.version": ReleaseCase(
        feature("metadata.version", 22),
        {
            KRAFT: ReleaseSeen(
                STOPS, "release-metadata-version", "this controller only supports versions 1-21"
            ),
        },
    ),
    "a metadata.version that the release has dropped": ReleaseCase(
        feature("metadata.version", 5),
        {NEWEST: ReleaseSeen(STOPS, "release-metadata-version", "No MetadataVersion with feature")},
    ),
    "a feature of a newer release": ReleaseCase(
        feature("streams.version", 1),
        {KRAFT: ReleaseSeen(STOPS, "release-feature", UNSUPPORTED)},
    ),
    "a feature of no release": ReleaseCase(
        feature("other.version", 1),
        {
            KRAFT: ReleaseSeen(STOPS, "release-feature", UNSUPPORTED),
            NEWEST: ReleaseSeen(STOPS, "release-feature", UNSUPPORTED),
        },
    ),
    "a quorum-state of version 1": ReleaseCase(later_quorum_state, {KRAFT: AS_BEFORE}),
}

"""Folders that a newer or another release wrote: each remnant has its finding for a release."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.codec.data_framing import PartitionMetadata, partition_metadata_bytes
from harness.codec.data_framing.log_folder import PARTITION_METADATA, QUORUM_STATE
from harness.codec.messages import FeatureLevelRecord
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.codec.records.record import Record
from harness.log_tools.release_limits import FEATURES, ReleaseLimits
from harness.log_tools.start_verdict import RULES, StartResult
from harness.targets.kafka.release import JUDGED
from tests.log_tools.made_broker import (
    DIRECTORIES,
    METADATA_LOG,
    ORDERS,
    UNIQUE,
    MadeBroker,
    id_text,
)
from tests.log_tools.planted import checked
from tests.reference_broker.storage.made_folder import name_of

Change = Callable[[MadeBroker], object]
STOPS, FAILS, STARTS = StartResult
RECORD = [Record(b"value")]


class Case(NamedTuple):
    """A change, the kind of its finding, and the releases with it and without it."""

    change: Change
    kind: str
    refused: tuple[str, ...]
    taken: tuple[str, ...]
    kraft: bool = False
    result: StartResult = STOPS


def folder(name: str) -> Change:
    return lambda made: (made.two / name).mkdir()


def segment(data: bytes) -> Change:
    return lambda made: (made.two / "orders-1" / name_of(0)).write_bytes(data)


def feature(name: str, level: int) -> Change:
    return lambda made: made.add_metadata(FeatureLevelRecord(name=name, feature_level=level))


def with_directory_ids(made: MadeBroker) -> None:
    for path, id_ in zip(made.folders, DIRECTORIES, strict=True):
        made.change(path, directory_id=id_text(id_))


def as_of_kraft(made: MadeBroker) -> None:
    for path in made.folders:
        made.change(path, version="1", broker_id=None, node_id="1")


def quorum_state(version: int) -> Change:
    state: dict[str, object] = {"leaderId": 1, "leaderEpoch": 1, "votedId": -1}
    older = {"clusterId": "", "appliedOffset": 0, "currentVoters": []}
    state |= {"votedDirectoryId": "A" * 22} if version else older
    state["data_version"] = version
    return lambda made: (made.one / METADATA_LOG / QUORUM_STATE).write_text(json.dumps(state))


def later_topic_id(made: MadeBroker) -> None:
    note = partition_metadata_bytes(PartitionMetadata(1, ORDERS))
    (made.two / "orders-1" / PARTITION_METADATA).write_bytes(note)


MAGIC_1 = encode_message_set([LegacyMessage(b"value", magic=1)])
MAGIC_2, ZSTD = encode_batch(RecordBatch(RECORD)), encode_batch(RecordBatch(RECORD), "zstd")
LZ4 = encode_message_set([LegacyMessage(b"value", magic=0)], compression="lz4")
LEVEL_22 = feature("metadata.version", 22)
CASES: dict[str, Case] = {
    "KRaft": Case(as_of_kraft, "release-kraft", ("0.10.2.2", "2.8.2"), ("3.9.2", "4.4.0")),
    "ZooKeeper": Case(
        lambda _: None, "release-zookeeper", ("4.0.2", "4.4.0"), ("2.8.2", "3.9.2"), result=STARTS
    ),
    "ids of directories": Case(
        with_directory_ids, "release-directory-id", ("2.8.2", "3.6.2"), ("2.7.2", "3.7.2")
    ),
    "deleted": Case(
        folder(f"orders-0.{UNIQUE}-delete"), "release-folder", ("0.10.1.1",), ("0.10.2.2",)
    ),
    "future": Case(
        lambda made: shutil.copytree(made.one / "orders-0", made.two / f"orders-0.{UNIQUE}-future"),
        "release-folder",
        ("0.10.2.2", "1.0.2"),
        ("1.1.1", "3.9.2"),
    ),
    "stray": Case(
        folder(f"orders-0.{UNIQUE}-stray"), "release-folder", ("2.8.2", "3.6.0"), ("3.6.1", "3.7.2")
    ),
    "remote": Case(
        folder("remote-log-index-cache"), "release-folder", ("2.8.2", "3.4.1"), ("3.5.2",)
    ),
    "partition.metadata": Case(later_topic_id, "release-topic-id", ("2.8.2",), ("2.7.2", "3.7.2")),
    "partition.metadata, later": Case(
        later_topic_id, "release-topic-id", ("3.0.2", "3.6.2"), (), result=FAILS
    ),
    "magic 1": Case(segment(MAGIC_1), "release-magic", ("0.9.0.1",), ("0.10.0.1",), result=STARTS),
    "magic 2": Case(segment(MAGIC_2), "release-magic", ("0.10.2.2",), ("0.11.0.3",), result=STARTS),
    "lz4": Case(segment(LZ4), "release-codec", ("0.8.1.1",), ("0.8.2.2",), result=STARTS),
    "zstd": Case(segment(ZSTD), "release-codec", ("2.0.1",), ("2.1.1", "4.4.0"), result=STARTS),
    "higher metadata.version": Case(
        LEVEL_22, "release-metadata-version", ("3.3.2", "3.9.2"), ("4.0.2",), kraft=True
    ),
    "lower metadata.version": Case(
        feature("metadata.version", 6),
        "release-metadata-version",
        ("4.0.2", "4.4.0"),
        ("3.3.2", "3.9.2"),
        kraft=True,
    ),
    "feature": Case(
        feature("share.version", 2), "release-feature", ("4.3.1",), ("4.4.0",), kraft=True
    ),
    "feature without level": Case(
        feature("share.version", 0), "release-feature", (), ("4.4.0",), kraft=True
    ),
    "quorum-state": Case(
        quorum_state(1), "release-quorum-state", ("3.7.2",), ("3.8.1", "4.4.0"), kraft=True
    ),
    "older quorum-state": Case(
        quorum_state(0), "release-quorum-state", (), ("3.7.2", "4.4.0"), kraft=True
    ),
}
PAIRS = [
    (name, release, is_refused)
    for name, case in CASES.items()
    for is_refused, releases in ((True, case.refused), (False, case.taken))
    for release in releases
]


@pytest.mark.parametrize(("name", "release", "is_refused"), PAIRS)
def test_remnant_is_found_for_the_releases_that_refuse_it_alone(
    tmp_path: Path, name: str, release: str, is_refused: bool
) -> None:
    case = CASES[name]
    made = MadeBroker(tmp_path, kraft=case.kraft)
    case.change(made)
    found, verdict = checked(*made.folders, release=release)
    assert (case.kind in {one.kind for one in found}) == is_refused
    assert verdict is not None
    if is_refused:
        assert verdict.result is case.result
        assert (case.kind in verdict.kinds) == (case.result is not STARTS)


def test_without_a_release_no_remnant_is_found(tmp_path: Path) -> None:
    made = MadeBroker(tmp_path, kraft=False)
    folder(f"orders-0.{UNIQUE}-stray")(made)
    segment(ZSTD)(made)
    found, verdict = checked(*made.folders)
    assert verdict is None
    assert not [one for one in found if one.kind.startswith("release-")]


@pytest.mark.parametrize("release", JUDGED)
def test_sound_folders_of_an_old_broker_start_in_each_release_with_zookeeper(
    tmp_path: Path, release: str
) -> None:
    found, verdict = checked(*MadeBroker(tmp_path, kraft=False).folders, release=release)
    assert verdict is not None
    assert verdict.result is STARTS
    kinds = {one.kind for one in found}
    assert kinds == ({"release-zookeeper"} if ReleaseLimits(release).is_in("4.0+") else set())


def test_newest_judged_releases_have_known_features() -> None:
    assert {ReleaseLimits(one).features is not None for one in JUDGED if one >= "3.3"} == {True}
    assert max(FEATURES) == max(JUDGED)[:3]


def test_page_has_each_kind_that_decides_a_start() -> None:
    page = (Path(__file__).parents[2] / "docs" / "log-files.md").read_text("utf-8")
    assert not [kind for kind in RULES if f"`{kind}`" not in page]
    assert {case.kind for case in CASES.values()} == {
        *(kind for kind in RULES if kind.startswith("release-")),
        *("release-zookeeper", "release-magic", "release-codec"),
    }


def invoke(*words: object) -> tuple[int, str]:
    ended = CliRunner().invoke(main, ["log", "verify", *map(str, words)])
    return ended.exit_code, ended.output


def test_verify_ends_with_the_start_of_the_release(tmp_path: Path) -> None:
    made = MadeBroker(tmp_path)
    code, text = invoke("--release", "3.9.2", *made.folders)
    assert code == 1
    last = "release 3.9.2 with KRaft: does not start (release-metadata-version)"
    assert text.splitlines()[-1] == last
    assert "metadata.version is 33, release 3.9.2 supports 1 to 21" in text
    code, text = invoke("--release", "4.4", "--json", *made.folders)
    start = {"kind": "start", "release": "4.4", "mode": "KRaft", "result": "starts", "kinds": []}
    assert (code, json.loads(text)) == (0, start)


@pytest.mark.parametrize(
    ("release", "said"),
    [("x", "is no release"), ("4", "is no release"), ("4.5.0", "newer than 4.4, the newest known")],
)
def test_verify_refuses_what_is_no_known_release(tmp_path: Path, release: str, said: str) -> None:
    code, text = invoke("--release", release, MadeBroker(tmp_path).one)
    assert code == 2
    assert said in text

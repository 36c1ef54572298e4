"""Files of one broker that do not fit each other: each case has its finding, its neighbour none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from harness.codec.data_framing.log_folder import META_PROPERTIES, PARTITION_METADATA
from harness.codec.messages import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    UnregisterBrokerRecord,
)
from harness.log_tools.at_start import AT_START
from tests.log_tools.made_broker import (
    BILLS,
    DIRECTORIES,
    METADATA_LOG,
    NODE,
    ORDERS,
    OTHER_NODE,
    UNIQUE,
    UNKNOWN,
    MadeBroker,
    id_text,
    replica,
)
from tests.log_tools.planted import findings
from tests.reference_broker.storage.made_folder import name_of

Change = Callable[[MadeBroker], object]
FUTURE, DELETED, STRAY = (f"orders-0.{UNIQUE}-{why}" for why in ("future", "delete", "stray"))


class Case(NamedTuple):
    """A change of sound folders, and the findings then: kind, file, a part of the problem."""

    change: Change
    wanted: tuple[tuple[str, str, str], ...]


def one(change: Change, kind: str, file: str, problem: str) -> Case:
    return Case(change, ((kind, file, problem),))


def without_id(name: str) -> Change:
    return lambda made: (made.folders[0] / name / PARTITION_METADATA).unlink()


def with_id(name: str, topic_id: UUID) -> Change:
    def change(made: MadeBroker) -> None:
        shutil.rmtree(made.one / name)
        made.partition(made.one, name, topic_id)

    return change


def renamed(name: str, to: str) -> Change:
    return lambda made: (made.one / name).rename(made.two / to)


def removed(*names: str) -> Change:
    def change(made: MadeBroker) -> None:
        for name in names:
            shutil.rmtree(made.one.parent / name)

    return change


def all_of(*changes: Change) -> Change:
    def change(made: MadeBroker) -> None:
        for each in changes:
            each(made)

    return change


def without_files(*names: str) -> Change:
    def change(made: MadeBroker) -> None:
        for path in [path for path in made.one.parent.rglob("*") if path.name in names]:
            path.unlink()

    return change


def deleted(made: MadeBroker) -> None:
    made.add_metadata(RemoveTopicRecord(topic_id=BILLS))


def made_again(made: MadeBroker) -> None:
    made.add_metadata(
        RemoveTopicRecord(topic_id=BILLS), TopicRecord(name="bills", topic_id=UNKNOWN)
    )


def reassigned(made: MadeBroker) -> None:
    made.add_metadata(
        PartitionChangeRecord(
            topic_id=BILLS, partition_id=0, replicas=[OTHER_NODE], directories=[DIRECTORIES[0]]
        )
    )


META_TWO = f"two/{META_PROPERTIES}"
ID_OF_ORDERS = f"one/orders-0/{PARTITION_METADATA}"
WRONG: dict[str, Case] = {
    "no meta.properties": one(
        lambda made: (made.two / META_PROPERTIES).unlink(), "meta-missing", META_TWO, "not there"
    ),
    "no cluster id": one(
        lambda made: made.change(made.two, cluster_id=None), "meta-key", META_TWO, "cluster.id is"
    ),
    "no node id": one(
        lambda made: made.change(made.two, node_id=None), "meta-key", META_TWO, "node.id is"
    ),
    "a node id that is a word": one(
        lambda made: made.change(made.two, node_id="one"), "meta-value", META_TWO, "'one' is no id"
    ),
    "a directory id that is none": one(
        lambda made: made.change(made.two, directory_id="x"), "meta-value", META_TWO, "'x' is no id"
    ),
    "a reserved directory id": one(
        lambda made: made.change(made.two, directory_id=id_text(UUID(int=1))),
        "meta-reserved", META_TWO, "is reserved",
    ),
    "another cluster": one(
        lambda made: made.change(made.two, cluster_id="d"),
        "meta-cluster", META_TWO, "cluster.id is d, in",
    ),
    "another node": one(
        lambda made: made.change(made.two, node_id="2"), "meta-node", META_TWO, "node.id is 2, in"
    ),
    "the version of ZooKeeper beside that of KRaft": one(
        lambda made: made.change(made.two, version="0", node_id=None, broker_id="1"),
        "meta-version", META_TWO, "version is 0, in",
    ),
    "no directory id, where the metadata log has one": one(
        lambda made: made.change(made.two, directory_id=None),
        "directory-unlike", META_TWO, "no directory.id, the metadata log has",
    ),
    "another directory id than the metadata log has": one(
        lambda made: made.change(made.two, directory_id=id_text(UNKNOWN)),
        "directory-unlike", META_TWO, f"directory.id {UNKNOWN}, the metadata log has",
    ),
    "one directory id in two directories": one(
        lambda made: made.change(made.two, directory_id=id_text(DIRECTORIES[0])),
        "meta-directory", META_TWO, "that of",
    ),
    "a partition in two directories": one(
        lambda made: made.partition(made.two, "orders-0", ORDERS),
        "partition-twice", "two/orders-0", "orders-0 has the folder",
    ),
    "a partition's number written in two ways": one(
        lambda made: made.partition(made.one, "orders-00", ORDERS),
        "partition-twice", "one/orders-00", "orders-0 has the folder",
    ),
    "the metadata log in two directories": one(
        lambda made: shutil.copytree(made.one / METADATA_LOG, made.two / METADATA_LOG),
        "metadata-log-twice", f"two/{METADATA_LOG}", "has the folder",
    ),
    "a record of the metadata log of an unknown type": one(
        lambda made: made.add_metadata(RemoveTopicRecord(topic_id=BILLS), b"\x01\x63\x00\x00"),
        "metadata-record", f"one/{METADATA_LOG}/{name_of(0)}", "record type 99 is not known; no",
    ),
    "two future logs of a partition": one(
        lambda made: (
            made.partition(made.two, FUTURE, ORDERS),
            made.partition(made.two, FUTURE.replace("0-f", "1-f"), ORDERS),
        ),
        "future-twice", f"two/{FUTURE.replace('0-f', '1-f')}", "orders-0 has the folder",
    ),
    "a future log beside its present one": one(
        lambda made: made.partition(made.one, FUTURE, ORDERS),
        "future-beside-present", f"one/{FUTURE}", "in the same log directory",
    ),
    "a future log without a present one": Case(
        renamed("orders-0", FUTURE),
        (
            ("future-alone", f"two/{FUTURE}", "no present log of orders-0"),
            ("partition-missing", "one/orders-0", "has this replica here"),
        ),
    ),
    "a folder of another program": one(
        lambda made: (made.two / "lost+found").mkdir(), "folder-name", "two/lost+found", "not that"
    ),
    "a folder with a word behind the dash": one(
        lambda made: (made.two / "old-data").mkdir(), "folder-name", "two/old-data", "not that"
    ),
    "a deleted folder without a unique id": one(
        lambda made: (made.two / "orders-0-delete").mkdir(),
        "folder-name", "two/orders-0-delete", "not that",
    ),
    "no topic id": one(
        without_id("orders-0"), "topic-id-missing", ID_OF_ORDERS, "not there"
    ),
    "topic id zero": one(
        with_id("orders-0", UUID(int=0)),
        "topic-id-zero", ID_OF_ORDERS, "is zero",
    ),
    "another topic id than in the metadata log": one(
        with_id("orders-0", UNKNOWN),
        "topic-id-unlike", ID_OF_ORDERS, f"in the metadata log it is {ORDERS}",
    ),
    "the topic id of another topic": one(
        with_id("orders-0", BILLS),
        "topic-id-of-another", ID_OF_ORDERS, "that of topic bills",
    ),
    "two topic ids in one topic, and no metadata log": Case(
        all_of(with_id("orders-0", UNKNOWN), removed(f"one/{METADATA_LOG}")),
        (("topic-id-differs", f"two/orders-1/{PARTITION_METADATA}", f"it is {UNKNOWN}"),),
    ),
    "a folder of no topic": one(
        lambda made: made.partition(made.two, "ghost-0", UNKNOWN),
        "partition-stray", "two/ghost-0", "or the name ghost",
    ),
    "a folder of no partition": one(
        lambda made: made.partition(made.two, "orders-5", ORDERS),
        "partition-stray", "two/orders-5", "topic orders has no partition 5",
    ),
    "a replica that was assigned to other nodes": one(
        reassigned, "partition-stray", "one/bills-0", "its replicas are [2], not node 1"
    ),
    "a topic that was deleted": one(
        deleted, "partition-deleted", "one/bills-0", "topic bills was deleted"
    ),
    "a topic that was deleted and made again": one(
        made_again, "partition-deleted", "one/bills-0", f"of that name has id {UNKNOWN}"
    ),
    "a replica without a folder": one(
        removed("one/bills-0"),
        "partition-missing", "one/bills-0", "has this replica here",
    ),
}  # fmt: skip
SOUND: dict[str, Change] = {
    "nothing changed": lambda _: None,
    "a partition that is being moved": lambda made: made.partition(made.two, FUTURE, ORDERS),
    "a move that a crash ended": lambda made: (made.one / "orders-0").rename(made.one / FUTURE),
    "a folder of a deleted partition": lambda made: made.partition(made.two, DELETED, UNKNOWN),
    "a stray folder": lambda made: made.partition(made.two, STRAY, UNKNOWN),
    "a stray folder without topic id": lambda made: made.partition(made.two, STRAY, None),
    "a deleted topic, its folder renamed": all_of(
        deleted, renamed("bills-0", f"bills-0.{UNIQUE}-delete")
    ),
    "a replica that moves away, and its folder with it": all_of(reassigned, removed("one/bills-0")),
    "a folder that was moved by hand": renamed("orders-0", "orders-0"),
    "a replica that has no directory yet": lambda made: made.add_metadata(
        replica(ORDERS, 2, UUID(int=1))
    ),
    "a replica in a directory that is offline": lambda made: made.add_metadata(
        replica(ORDERS, 2, UNKNOWN)
    ),
    "a replica of another node": lambda made: made.add_metadata(
        replica(ORDERS, 2, DIRECTORIES[0], [OTHER_NODE])
    ),
    "no directory id, as before 3.7": all_of(
        lambda made: made.change(made.one, directory_id=None),
        lambda made: made.change(made.two, directory_id=None),
        lambda made: made.add_metadata(RegisterBrokerRecord(broker_id=NODE)),
    ),
    "an empty directory that the metadata log does not have yet": all_of(
        lambda made: (made.two / "orders-1").rename(made.one / "orders-1"),
        lambda made: made.change(made.two, directory_id=id_text(UNKNOWN)),
    ),
    "an index cache of remote logs": lambda made: (made.two / "remote-log-index-cache").mkdir(),
    "a file of another program": lambda made: (made.two / "notes.txt").write_text("?"),
    "a broker without the metadata log": removed(f"one/{METADATA_LOG}"),
    "a controller alone": all_of(
        removed("one/orders-0", "one/bills-0", "two/orders-1"),
        lambda made: made.add_metadata(UnregisterBrokerRecord(broker_id=NODE)),
    ),
    "a topic deleted in a transaction that did not end": lambda made: made.add_metadata(
        BeginTransactionRecord(), RemoveTopicRecord(topic_id=BILLS)
    ),
    "a topic deleted in a transaction that was aborted": lambda made: made.add_metadata(
        BeginTransactionRecord(), RemoveTopicRecord(topic_id=BILLS), AbortTransactionRecord()
    ),
}
ZOOKEEPER_WRONG: dict[str, Case] = {
    "no broker id": one(
        lambda made: made.change(made.two, broker_id=None), "meta-key", META_TWO, "broker.id is"
    ),
    "a cluster id in one of them": one(
        lambda made: made.change(made.two, cluster_id=None), "meta-key", META_TWO, "cluster.id is"
    ),
    "another broker": one(
        lambda made: made.change(made.two, broker_id="2"), "meta-node", META_TWO, "broker.id is 2"
    ),
    "two topic ids in one topic": one(
        with_id("orders-0", UNKNOWN),
        "topic-id-differs", f"two/orders-1/{PARTITION_METADATA}", f"it is {UNKNOWN}",
    ),
}  # fmt: skip
ZOOKEEPER_SOUND: dict[str, Change] = {
    "nothing changed": lambda _: None,
    "no cluster id, as up to 2.3": all_of(
        lambda made: made.change(made.one, cluster_id=None),
        lambda made: made.change(made.two, cluster_id=None),
    ),
    "no topic ids, as up to 2.7": without_files(PARTITION_METADATA),
    "no topic id in one folder": without_id("orders-0"),
    "no meta.properties and topic ids, as up to 0.8.2": without_files(
        PARTITION_METADATA, META_PROPERTIES
    ),
    "a partition that is being moved": lambda made: made.partition(made.two, FUTURE, ORDERS),
}


def told(made: MadeBroker) -> list[tuple[str, str, str]]:
    """Kind, file and problem of each finding; its action is that of the table."""
    found = findings(*made.folders)
    assert all(each.recovery == AT_START[each.kind] for each in found)
    top = made.one.parent
    return [(each.kind, each.file.relative_to(top).as_posix(), each.problem) for each in found]


def has_the_findings(made: MadeBroker, case: Case) -> None:
    case.change(made)
    found = told(made)
    assert sorted(each[:2] for each in found) == sorted(each[:2] for each in case.wanted)
    for (_, _, problem), (_, _, part) in zip(sorted(found), sorted(case.wanted), strict=True):
        assert part in problem


@pytest.mark.parametrize("case", WRONG)
def test_files_that_do_not_fit_are_reported(case: str, tmp_path: Path) -> None:
    has_the_findings(MadeBroker(tmp_path), WRONG[case])


@pytest.mark.parametrize("case", ZOOKEEPER_WRONG)
def test_files_of_a_zookeeper_broker_that_do_not_fit_are_reported(
    case: str, tmp_path: Path
) -> None:
    has_the_findings(MadeBroker(tmp_path, kraft=False), ZOOKEEPER_WRONG[case])


@pytest.mark.parametrize("case", SOUND)
def test_files_that_fit_have_no_findings(case: str, tmp_path: Path) -> None:
    made = MadeBroker(tmp_path)
    SOUND[case](made)
    assert told(made) == []


@pytest.mark.parametrize("case", ZOOKEEPER_SOUND)
def test_files_of_a_zookeeper_broker_that_fit_have_no_findings(case: str, tmp_path: Path) -> None:
    made = MadeBroker(tmp_path, kraft=False)
    ZOOKEEPER_SOUND[case](made)
    assert told(made) == []


def test_topic_deleted_in_a_transaction_that_ended_is_reported(tmp_path: Path) -> None:
    made = MadeBroker(tmp_path)
    made.add_metadata(
        BeginTransactionRecord(), RemoveTopicRecord(topic_id=BILLS), EndTransactionRecord()
    )
    assert [each[0] for each in told(made)] == ["partition-deleted"]


def test_one_of_two_log_directories_has_no_findings(tmp_path: Path) -> None:
    """A partition may be in the directory that is not given, and a future log's present one too."""
    made = MadeBroker(tmp_path)
    made.partition(made.two, FUTURE, ORDERS)
    for each in made.folders:
        assert findings(each) == []
    shutil.rmtree(made.one / "bills-0")
    assert findings(made.one) == []


def test_directory_that_is_given_twice_is_one(tmp_path: Path) -> None:
    made = MadeBroker(tmp_path)
    assert findings(made.one, made.two, made.one / ".." / "one", made.one / "orders-0") == []


def test_every_kind_has_a_case() -> None:
    cases = [*WRONG.values(), *ZOOKEEPER_WRONG.values()]
    kinds = {kind for case in cases for kind, _, _ in case.wanted}
    assert AT_START.keys() - kinds == {"producer-snapshot-batch"}, "of one folder"

"""Failures while a replica moves, or after its log is gone: they fail only their own folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.error_code import ErrorCode
from harness.reference_broker.file_part import FilePart
from harness.reference_broker.state.partition.following import restart_at, truncate
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.storage.guarded import guarded
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.open_files import close_some
from harness.reference_broker.storage.stored_log import StoredLog
from tests.reference_broker.moving import Moving, moving
from tests.reference_broker.storage.test_storage import NOW, all_of, write

BIG = b"x" * 600_000
STORAGE = "harness.reference_broker.storage"


def none_left(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EMFILE, "Too many open files")


def broken(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.EIO, "Input/output error")


def move_away(broker: Moving) -> None:
    broker.wish("second")
    broker.bring()
    assert broker.places() == {"second": False}


def delete(broker: Moving) -> None:
    topic = broker.state.cluster.named("t")
    assert topic is not None
    broker.state.cluster.delete(topic)


@pytest.mark.parametrize("go", [move_away, delete])
def test_read_of_moved_or_deleted_log_fails_no_log_directory(
    tmp_path: Path, go: Callable[[Moving], None]
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 1, BIG)
        log = replica.log
        borrowed = log.borrow(Offset(0), 1_000_000, at_least_one=True)
        assert isinstance(borrowed, FilePart)
        go(broker)
        with pytest.raises(FileNotFoundError):
            log.read(Offset(0), 1_000_000, at_least_one=True)
        with pytest.raises(FileNotFoundError) as told:
            bytes(borrowed)
        borrowed.on_error(told.value)
        assert not broker.files.logs.has_failed()
        assert not log.is_offline


def test_pending_checkpoint_of_deleted_log_fails_no_log_directory(tmp_path: Path) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica(segment_bytes="1048576")
        write(replica, 3, BIG)
        log = replica.log
        assert isinstance(log, StoredLog)
        replica.epochs.assign(LeaderEpoch(0), Offset(0))
        replica.epochs.truncate_below(Offset(1))  # not noted yet, as is what waits to be flushed
        delete(broker)
        log.note_epochs()
        broker.files.logs.checkpoint()
        assert not broker.files.logs.has_failed()


def cut(replica: Partition) -> None:
    truncate(replica, Offset(1))
    assert replica.log.end_offset == 1


def begin_anew(replica: Partition) -> None:
    restart_at(replica, Offset(9), NOW)
    assert (replica.log.start_offset, replica.log.end_offset) == (9, 9)


@pytest.mark.parametrize("change", [cut, begin_anew])
def test_replica_is_truncated_though_directory_of_its_future_log_failed(
    tmp_path: Path, change: Callable[[Partition], None]
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=2)
        assert replica.future is not None
        assert isinstance(replica.future.log, StoredLog)
        replica.future.log.fail(OSError(errno.EIO, "Input/output error"))
        change(replica)
        assert not replica.log.is_offline
        broker.bring()
        assert len(broker.state.cluster.host.moving) == 0


def test_write_error_of_move_fails_only_destination_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        with monkeypatch.context() as patched:
            patched.setattr(f"{STORAGE}.stored_segment.write_all", broken)
            broker.bring()
        assert [one.is_online for one in broker.files.logs.directories()] == [True, False, True]
        assert replica.future is None
        assert replica.leader_problem() is ErrorCode.NONE


def test_truncate_error_of_future_log_fails_only_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        broker.wish("second")
        broker.bring(steps=3)
        real = StoredLog.truncate_from.__wrapped__  # type: ignore[attr-defined]

        def of_the_second(log: StoredLog, end: Offset) -> None:
            if log.folder.parent.name == "second":
                broken()
            real(log, end)

        monkeypatch.setattr(StoredLog, "truncate_from", guarded(of_the_second))
        cut(replica)
        assert [one.is_online for one in broker.files.logs.directories()] == [True, False, True]


def test_move_without_free_descriptor_is_refused_and_fails_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        close_some()
        with monkeypatch.context() as patched:
            patched.setattr(os, "open", none_left)
            assert broker.wish("second") is ErrorCode.KAFKA_STORAGE_ERROR
        assert replica.future is None
        assert broker.folders() == {"first": ["t-0"], "second": [], "third": []}
        assert not broker.files.logs.has_failed()
        assert broker.wish("third") is ErrorCode.NONE
        broker.bring()
        assert broker.places() == {"third": False}


@pytest.mark.parametrize(
    ("lacks", "folder"),
    [
        ("stored_segment.write_all", {"first": False, "second": True}),  # it waits
        ("log_directory.flush_folder", {"second": False}),  # it has its name already
    ],
)
def test_descriptor_shortage_during_move_fails_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, folder: dict[str, bool]
) -> None:
    with moving(tmp_path) as broker:
        replica = broker.replica()
        write(replica, 4, BIG)
        before = all_of(replica)
        broker.wish("second")
        with monkeypatch.context() as patched:
            patched.setattr(f"{STORAGE}.{lacks}", none_left)
            broker.bring()
        assert broker.places() == folder
        assert not broker.files.logs.has_failed()
        broker.bring()
        assert broker.places() == {"second": False}
        assert all_of(replica) == before
        write(replica)
        assert replica.log.end_offset == 5


def test_unflushed_segments_of_moved_log_are_flushed_in_new_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Offset]] = []
    monkeypatch.setattr(
        LogDirectory,
        "_flush_later",
        lambda _, segment, __: asked.append((segment.folder.name, segment.base_offset)),
    )
    with moving(tmp_path) as broker:
        replica = broker.replica(internal_segment_bytes="700000")
        write(replica, 2, BIG)
        broker.wish("second")
        broker.bring()
        assert replica.future is None
        asked.clear()
        write(replica, 1, BIG)
        assert asked == [("t-0", 0), ("t-0", 1)]

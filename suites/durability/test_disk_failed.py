"""RECV, LDIR: a disk fails: it is full, read-only as after an error, or gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.power_loss.power_loss_disk import PowerLossDisk
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.brokers.power_loss_broker import PowerLossBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.durability.support.failing_disks import ROOM_BYTES, Filled, RefusedAppend
from suites.durability.support.half_on_disk import HalfOnDisk
from suites.durability.support.log_dirs import TWO, HalfFailed

BEFORE = 5
"""Records that are acknowledged while all is well."""
IN_FAILED = "in the directory that failed"
Change = Callable[[PowerLossDisk], None]


def _fill(disk: PowerLossDisk) -> None:
    disk.fill(ROOM_BYTES)


@pytest.fixture(params=["full", "read_only"])
def harm(request: pytest.FixtureRequest) -> tuple[Change, Change]:
    """A function that harms a disk, and one that repairs it while no file of it is open."""
    kinds: dict[str, tuple[Change, Change]] = {
        "full": (_fill, PowerLossDisk.free),
        "read_only": (PowerLossDisk.become_read_only, PowerLossDisk.remount),
    }
    return kinds[request.param]


def _expect_storage_error(refusal: RefusedAppend | None, what: str) -> None:
    assert refusal is not None, f"{what} it acknowledges more than its disk has room for"
    code = ErrorCode.KAFKA_STORAGE_ERROR
    told = f"{what} the last record's error is {refusal}, expected {ErrorCode.describe(code)}"
    assert refusal.code == code, told


@judges("RECV-017")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_broker_with_unwritable_only_disk_exits_and_keeps_records(
    power_loss_broker: PowerLossBroker, harm: tuple[Change, Change]
) -> None:
    """With an error, or without an answer (up to 0.11). It is killed only where it did not end."""
    client, (do, undo) = power_loss_broker.client, harm
    log = Filled(client, client.create_topic())
    for _ in range(BEFORE):
        log.append()
    do(power_loss_broker.disk)
    with requirement("RECV-017"):
        refusal = log.until_refused()
        if refusal is None or not refusal.silence:
            _expect_storage_error(refusal, "on its only disk")
        assert client.last_seen(lambda: not client.is_alive(), bool), "the broker goes on"
        power_loss_broker.kill()
        undo(power_loss_broker.disk)
        power_loss_broker.start()
        await_back(client, log.topic)
        log.expect_kept("with room again")
        log.expect_more("with room again")


class _TwoLogs:
    """A partition in each of two directories, with some records."""

    def __init__(self, half: HalfFailed) -> None:
        self._half = half
        client, topic = half.kept.client, half.topic
        self.lost, self.left = (Filled(client, topic, each[0]) for each in (half.lost, half.left))
        for _ in range(BEFORE):
            self.lost.append()
            self.left.append()

    def expect_kept(self, heal: Callable[[], None]) -> None:
        """One is not served, and both are there when the harm is undone and the broker is started
        again."""
        kept = self._half.kept
        self._half.await_failed()
        self.left.expect_more("in the directory that is left")
        kept.kill()
        heal()
        kept.start()
        for log in (self.lost, self.left):
            await_back(kept.client, log.topic, log.partition)
            log.expect_kept(f"with room again, in partition {log.partition}")
        self.lost.expect_more("in the directory that is back")


@judges("LDIR-008")
@needs_broker(Use.PERSISTENT, {**TWO, **BRIEF})
def test_unwritable_disk_fails_only_its_own_partitions(
    half_on_disk: HalfOnDisk, harm: tuple[Change, Change]
) -> None:
    """Partitions on the other one are written on; when it takes something again all is there."""
    logs, (do, undo) = _TwoLogs(half_on_disk), harm
    do(half_on_disk.disk)
    with requirement("LDIR-008"):
        _expect_storage_error(logs.lost.until_refused(), IN_FAILED)
        logs.expect_kept(lambda: undo(half_on_disk.disk))


@judges("LDIR-008")
@needs_broker(Use.PERSISTENT, {**TWO, **BRIEF})
def test_vanished_log_directory_fails_only_its_own_partitions(
    persistent_broker: PersistentBroker,
) -> None:
    """As when its disk is pulled out. What is written to files that are open is not lost either."""
    half = HalfFailed(persistent_broker)
    logs, away = _TwoLogs(half), half.failing.with_name("away")
    half.failing.rename(away)
    with requirement("LDIR-008"):
        _expect_storage_error(persistent_broker.client.last_seen(logs.lost.append, bool), IN_FAILED)
        logs.expect_kept(lambda: _put_back(away, half.failing))


def _put_back(away: Path, folder: Path) -> None:
    """Whatever the broker made in its place meanwhile goes."""
    shutil.rmtree(folder, ignore_errors=True)
    away.rename(folder)

"""A segment of too large offsets is split at the start; storage/test_overflow.py compares Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.ids import Offset
from harness.log_tools.findings import Finding
from harness.reference_broker.state.cleaning.log_cleanable import cleanable
from harness.reference_broker.state.cleaning.log_compaction import compact
from harness.reference_broker.state.log.log_store import UnreadableLog
from harness.reference_broker.storage import overflowed_segment
from tests.log_tools.planted import findings
from tests.reference_broker.storage.overflowed import (
    BASES,
    END,
    FAR,
    NEXT,
    SPLIT,
    batch_at,
    begins_in,
    write_segments,
)
from tests.reference_broker.storage.test_storage import (
    NOW,
    all_of,
    names,
    opened,
    partition_in,
    write,
)

CONFIGS = {"index.interval.bytes": "0"}
COMPACTED = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0", "segment.ms": "1"}


def findings_in_log(folder: Path) -> list[Finding]:
    """The findings of `log verify` but for `meta.properties`: no broker has made these folders."""
    return [one for one in findings(folder) if one.file.name != "meta.properties"]


def folder_with(folder: Path, *, clean: bool = False) -> bytes:
    with opened(folder, clean=clean) as logs:
        partition_in(logs, configs=CONFIGS)
    for path in (folder / "t-0").glob("*.*index"):
        path.unlink()
    return write_segments(folder / "t-0")


@pytest.mark.parametrize("clean", [False, True])
def test_overflowed_segment_is_split_at_start(tmp_path: Path, clean: bool) -> None:
    written = folder_with(tmp_path, clean=clean)
    with opened(tmp_path, clean=True) as logs:
        partition = partition_in(logs, configs=CONFIGS)
        assert all_of(partition) == written
        assert partition.log.end_offset == END
        for base in (*BASES, NEXT):
            read = partition.log.read(Offset(base), 1, at_least_one=True)
            assert read.startswith(batch_at(base))
    assert begins_in(tmp_path / "t-0") == SPLIT
    assert (
        names(tmp_path, ".deleted") == names(tmp_path, ".swap") == names(tmp_path, ".cleaned") == []
    )
    assert findings_in_log(tmp_path) == []


def test_overflowed_last_segment_after_clean_shutdown_is_split_at_recovery(tmp_path: Path) -> None:
    """Kafka leaves it as well; the next recovery splits it."""
    folder_with(tmp_path, clean=True)
    (tmp_path / "t-0" / f"{NEXT:020d}.log").unlink()
    (tmp_path / "t-0" / f"{0:020d}.index").touch()
    end = BASES[-1] + 1
    with opened(tmp_path, clean=True) as logs:
        partition = partition_in(logs, configs=CONFIGS)
        assert partition.log.end_offset == end
    assert begins_in(tmp_path / "t-0") == (0,)
    with opened(tmp_path) as logs:
        write(partition_in(logs, configs=CONFIGS))
        assert begins_in(tmp_path / "t-0") == (0, end)
    (tmp_path / "recovery-point-offset-checkpoint").unlink()
    with opened(tmp_path) as logs:
        assert partition_in(logs, configs=CONFIGS).log.end_offset == end + 1
    assert begins_in(tmp_path / "t-0") == (*SPLIT[:-1], end)


def test_overflowed_segment_with_partial_batch_is_refused(tmp_path: Path) -> None:
    folder_with(tmp_path)
    first = tmp_path / "t-0" / f"{0:020d}.log"
    torn = first.read_bytes() + batch_at(2 * FAR + 40)[:-1]
    first.write_bytes(torn)
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match="ends within a batch"):
        partition_in(logs, configs=CONFIGS)
    assert first.read_bytes() == torn


@pytest.mark.parametrize("renamed", range(6))
def test_kill_during_segment_split_loses_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    """The crash comes after so many files have got their next names."""
    written = folder_with(tmp_path)
    left, real = renamed, Path.rename

    def rename(path: Path, target: Path) -> Path:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return real(path, target)

    with monkeypatch.context() as patched, opened(tmp_path) as logs:
        patched.setattr(Path, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            partition_in(logs, configs=CONFIGS)
    with opened(tmp_path) as logs:
        assert all_of(partition_in(logs, configs=CONFIGS)) == written
    assert begins_in(tmp_path / "t-0") == SPLIT


def test_compaction_splits_overflowed_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The indexes are trusted, as after a clean end."""
    written = folder_with(tmp_path, clean=True)
    for base in (0, NEXT):
        (tmp_path / "t-0" / f"{base:020d}.index").touch()
    monkeypatch.setattr(overflowed_segment, "split", None)
    with opened(tmp_path, clean=True) as logs:
        partition = partition_in(logs, configs=COMPACTED)
        assert begins_in(tmp_path / "t-0") == (0, NEXT)
        part = cleanable(partition, NOW)
        assert part is not None
        for _ in compact(part, NOW):
            pass
        assert all_of(partition) == written
        assert tuple(one.base_offset for one in partition.segments.all()) == SPLIT
    assert findings_in_log(tmp_path) == []

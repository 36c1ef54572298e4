"""The downloader against a server on loopback that misbehaves."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.targets.download import download_all
from harness.targets.pinned_file import DownloadError
from labs.awaiting import await_that
from tests.targets.kinds import ROOT
from tests.targets.repository import CONTENT, PATH, Behaviour, download, repository

QUICK = 0.01
NEVER_OVER_S = 3_600  # the test would be over before
SCRIPT = """
import sys
from pathlib import Path
from harness.targets.download import download_all
from tests.targets.repository import download
download_all([download(sys.argv[1], Path(sys.argv[2]))])
"""


def fetch(behaviour: Behaviour, folder: Path, **options: float) -> list[tuple[int, int]]:
    """Download the one file and return the reported progress."""
    told: list[tuple[int, int]] = []
    with repository(behaviour) as base:
        download_all(
            [download(base, folder)],
            progress=lambda done, total: told.append((done, total)),
            backoff_s=QUICK,
            **options,  # type: ignore[arg-type]
        )
    return told


def test_download_writes_file_and_reports_progress(tmp_path: Path) -> None:
    told = fetch(Behaviour(), tmp_path)
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert told == sorted(told)
    assert not list(tmp_path.glob("*.part"))


def test_existing_file_is_not_requested(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.jar").write_bytes(CONTENT)
    behaviour = Behaviour()
    fetch(behaviour, tmp_path)
    assert not behaviour.requests


def test_damaged_file_is_downloaded_again(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.jar").write_bytes(CONTENT[::-1])
    fetch(Behaviour(), tmp_path)
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_cut_download_resumes_with_range(tmp_path: Path) -> None:
    behaviour = Behaviour(cut_after_bytes=100_000, cuts=2)
    told = fetch(behaviour, tmp_path)
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT
    assert behaviour.ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert told == sorted(told), "what was resumed is not counted twice"


def test_download_completes_despite_more_cuts_than_attempts(tmp_path: Path) -> None:
    behaviour = Behaviour(cut_after_bytes=50_000, cuts=9)
    fetch(behaviour, tmp_path, attempts=2)
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_partial_file_of_earlier_run_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.jar.part").write_bytes(CONTENT[:70_000])
    behaviour = Behaviour()
    fetch(behaviour, tmp_path)
    assert behaviour.ranges == ["bytes=70000-"]
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_download_from_server_without_ranges_starts_over(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.jar.part").write_bytes(b"x" * 70_000)
    fetch(Behaviour(ignores_range=True), tmp_path)
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_wrong_partial_file_is_discarded(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.jar.part").write_bytes(b"x" * 70_000)
    behaviour = Behaviour()
    fetch(behaviour, tmp_path)
    assert behaviour.ranges == ["bytes=70000-", None]
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_refused_range_is_followed_by_full_request(tmp_path: Path) -> None:
    (tmp_path / "thing-1.0.jar.part").write_bytes(CONTENT[:70_000])
    behaviour = Behaviour(statuses=[416])
    fetch(behaviour, tmp_path)
    assert behaviour.ranges == ["bytes=70000-", None]


def test_busy_server_is_requested_again(tmp_path: Path) -> None:
    behaviour = Behaviour(statuses=[503, 429])
    fetch(behaviour, tmp_path)
    assert behaviour.requests[PATH] == 3


def test_stalled_download_is_abandoned_and_resumed(tmp_path: Path) -> None:
    behaviour = Behaviour(stall_after_bytes=60_000, stalls=1)
    fetch(behaviour, tmp_path, read_timeout_s=0.3)
    assert behaviour.ranges == [None, "bytes=60000-"]
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_slow_server_is_requested_once(tmp_path: Path) -> None:
    behaviour = Behaviour(pause_s=0.05)
    fetch(behaviour, tmp_path, read_timeout_s=5)
    assert behaviour.ranges == [None]


def test_wrong_checksum_raises_download_error_and_leaves_no_file(tmp_path: Path) -> None:
    behaviour = Behaviour(content=CONTENT[::-1])
    with pytest.raises(DownloadError, match="wrong checksum") as caught:
        fetch(behaviour, tmp_path, attempts=2)
    assert behaviour.requests[PATH] == 2
    assert not list(tmp_path.glob("*.jar")) + list(tmp_path.glob("*.part"))
    assert "org.example:thing:1.0" in str(caught.value)


@pytest.mark.parametrize("content", [CONTENT + b"x", CONTENT[:-1]], ids=["longer", "shorter"])
def test_wrong_size_raises_download_error_and_leaves_no_file(
    tmp_path: Path, content: bytes
) -> None:
    with pytest.raises(DownloadError):
        fetch(Behaviour(content=content), tmp_path, attempts=2)
    assert not list(tmp_path.glob("*.jar"))


def test_missing_file_is_requested_once_and_raises_download_error(tmp_path: Path) -> None:
    behaviour = Behaviour()
    with repository(behaviour) as base:
        with pytest.raises(DownloadError) as caught:
            download_all([download(base, tmp_path, "/elsewhere.jar")], backoff_s=QUICK)
    assert behaviour.requests["/elsewhere.jar"] == 1
    text = str(caught.value)
    for words in ("org.example:thing:1.0", f"{base}/elsewhere.jar", "404", "this test", "offline"):
        assert words in text


def test_refused_connection_raises_download_error_after_attempts(tmp_path: Path) -> None:
    with repository(Behaviour()) as base:
        pass
    with pytest.raises(DownloadError, match=r"refused.*after 2 attempts"):
        download_all([download(base, tmp_path)], attempts=2, backoff_s=QUICK)


def test_unknown_url_scheme_raises_download_error(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="ftp"):
        download_all([download("ftp://127.0.0.1", tmp_path)])


def test_one_failed_download_cancels_others(tmp_path: Path) -> None:
    slow = Behaviour(stall_after_bytes=10, stalls=1)
    with repository(slow) as slow_base, repository(Behaviour()) as base:
        with pytest.raises(DownloadError, match="404"):
            download_all(
                [
                    download(slow_base, tmp_path / "slow"),
                    download(base, tmp_path / "bad", "/elsewhere.jar"),
                ],
                backoff_s=NEVER_OVER_S,
                read_timeout_s=0.5,
            )


@pytest.mark.rotates(8)
def test_two_processes_download_file_once(tmp_path: Path) -> None:
    behaviour = Behaviour(pause_s=0.05)
    with repository(behaviour) as base:
        words = [sys.executable, "-c", SCRIPT, base, str(tmp_path)]
        both = [subprocess.Popen(words, cwd=ROOT) for _ in range(2)]
        assert [each.wait(60) for each in both] == [0, 0]
    assert behaviour.requests[PATH] == 1
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT


def test_download_of_killed_process_is_resumed(tmp_path: Path) -> None:
    part = tmp_path / "thing-1.0.jar.part"
    behaviour = Behaviour(stall_after_bytes=100_000, stalls=1)
    with repository(behaviour) as base:
        first = subprocess.Popen([sys.executable, "-c", SCRIPT, base, str(tmp_path)], cwd=ROOT)
        try:
            await_that(lambda: part.exists() and part.stat().st_size, "it does not begin")
        finally:
            first.kill()
            first.wait()
        have = part.stat().st_size
        download_all([download(base, tmp_path)])
    assert have > 0
    assert behaviour.ranges == [None, f"bytes={have}-"]
    assert (tmp_path / "thing-1.0.jar").read_bytes() == CONTENT

"""Our table of error codes against class Errors in every pinned kafka-clients jar."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.error_details import ErrorDetails, error_details
from harness.targets.artifacts import fetch, pinned_artifacts
from harness.targets.java import JavaError, find_java
from harness.targets.kafka.release import JUDGED
from harness.targets.pinned_file import DownloadError
from tests.targets.kinds import not_run

NEWEST = "4.4.0"
PROGRAM = Path(__file__).with_name("ErrorTable.java")
NEEDED = ("kafka-clients", "slf4j-api")


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


# Before 0.10 the client's class lacked some of the codes that its broker sent.
RELEASES = [
    release
    for release in JUDGED
    if _numbers(release) >= [0, 10]
    and any(one.artifact == "kafka-clients" for one in pinned_artifacts()[release])
]


@cache
def _errors_in(release: str) -> dict[int, tuple[str, bool]]:
    """Code -> (name, retriable), as the release's own class says."""
    jars = fetch(one for one in pinned_artifacts()[release] if one.artifact in NEEDED)
    classpath = os.pathsep.join(map(str, jars))
    command = [str(find_java().executable), "-cp", classpath, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {int(code): (name, retriable == "true") for code, name, retriable in rows}


def _their_errors(release: str) -> dict[int, tuple[str, bool]]:
    try:
        return _errors_in(release)
    except (JavaError, DownloadError) as problem:
        not_run(str(problem))
        raise AssertionError("not reached") from problem


@pytest.mark.kafka
@pytest.mark.deep
def test_error_names_and_retriability_match_newest_release() -> None:
    ours = {one.code: (one.name, one.retriable) for one in error_details().values()}
    assert ours == _their_errors(NEWEST)
    assert {code.value: code.name for code in ErrorCode} == {c: n for c, (n, _) in ours.items()}
    assert len(ours) == 138


def _known_in(one: ErrorDetails, release: str) -> bool:
    return _numbers(one.first_release) <= _numbers(release)


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("release", RELEASES)
def test_error_codes_of_each_release_match_first_release(release: str) -> None:
    theirs = _their_errors(release)
    ours = {one.code: one for one in error_details().values() if _known_in(one, release)}
    assert set(ours) == set(theirs)
    for code, (name, _) in theirs.items():
        names = {ours[code].name, *(former.name for former in ours[code].former_names)}
        assert name in names

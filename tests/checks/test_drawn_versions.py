"""The plugin that draws versions between the ends of a range."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict

import pytest

from checks.draw import ROOT

pytestmark = pytest.mark.rotates(8)  # each starts pytest

PLACE = "suites/protocol/offsets"
PLUGIN = ("-p", "checks.drawn_versions")


def _versions(*options: str) -> dict[str, set[int]]:
    """Return the collected versions by function and the other parameters."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options, "--target", "reference", PLACE],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, set[int]] = defaultdict(set)
    for case in re.findall(r"^.*::.*$", done.stdout, re.MULTILINE):
        version = re.search(r"\bv(\d+)\b(?=[^\[]*\]$)", case)
        where = re.sub(r"\bv\d+\b(?=[^\[]*\]$)", "", case)
        found[where].add(int(version[1]) if version else -1)
    return found


def test_ends_and_share_of_others_are_kept() -> None:
    every, ends = _versions(), _versions("--versions", "ends")
    kept = _versions(*PLUGIN, "--one-version-in", "3", "--versions-drawn-by", "a")
    assert set(kept) == set(every)
    for where, versions in every.items():
        between = len(versions - ends[where])
        assert ends[where] <= kept[where] <= versions
        assert len(kept[where] - ends[where]) == -(-between // 3)


def test_another_word_draws_others_and_same_word_the_same() -> None:
    drawn = [
        _versions(*PLUGIN, "--one-version-in", "4", "--versions-drawn-by", word)
        for word in ("a", "b", "a")
    ]
    assert drawn[0] == drawn[2] != drawn[1]


def test_without_share_nothing_is_left_out() -> None:
    assert _versions(*PLUGIN) == _versions()

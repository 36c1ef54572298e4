"""The plugins that cut a collection: one slice of the files, a share of the private brokers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checks.case_slice import slice_of
from checks.draw import ROOT

pytestmark = pytest.mark.rotates(8)  # most of them start a pytest of their own

FILES = 12
MARKED = """
import pytest
from harness.runner.broker_request import Use
from harness.runner.marks import needs_broker

@needs_broker(Use.OWN)
@pytest.mark.parametrize("number", [1, 2])
def test_private_{0}(number): pass

def test_shared_{0}(): pass
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cases")
    (made / "pytest.ini").write_text("[pytest]\nmarkers = needs_broker(request)\n", "utf-8")
    for number in range(FILES):
        (made / f"test_{number}.py").write_text(MARKED.format(number), "utf-8")
    return made


def collected(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--rootdir", str(folder), "-c", str(folder / "pytest.ini"), *options,
         str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_slices_are_disjoint_and_cover_all_cases(folder: Path) -> None:
    plugin = ("-p", "checks.case_slice")
    every = collected(folder, *plugin)
    parts = [collected(folder, *plugin, "--slice", f"{number}/3") for number in (1, 2, 3)]
    assert len(every) == FILES * 3
    assert sorted(case for part in parts for case in part) == sorted(every)
    files = [{case.split("::")[0] for case in part} for part in parts]
    assert sum(map(len, files)) == FILES  # each file is whole


def test_slice_cuts_one_folder_and_leaves_others_whole(folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(folder, tmp_path / "copy"))
    (folder / "below").mkdir()
    for number in range(FILES):
        (folder / "below" / f"test_below_{number}.py").write_text(MARKED.format(number), "utf-8")
    below = ("-p", "checks.case_slice", "--sliced", "below")
    for ways in ((), ("--functions",)):
        parts = [collected(folder, *below, *ways, "--slice", f"{n}/3") for n in (1, 2, 3)]
        for part in parts:
            assert sum(not case.startswith("below/") for case in part) == FILES * 3
        cut = [case for part in parts for case in part if case.startswith("below/")]
        assert len(cut) == len(set(cut)) == FILES * 3
        functions = [{case.split("[")[0] for case in part if "below/" in case} for part in parts]
        assert sum(map(len, functions)) == FILES * 2  # each function is whole


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1", "-1/3"])
def test_malformed_slice_is_refused(text: str) -> None:
    with pytest.raises(pytest.UsageError, match="--slice takes K/N"):
        slice_of(text)


def test_private_share_keeps_part_of_private_tests_and_all_others(folder: Path) -> None:
    plugin = ("-p", "checks.private_share", "--private-share", "4", "--private-draw")
    seen = [set(collected(folder, *plugin, word)) for word in ("a", "b", "c")]
    for cases in seen:
        assert sum("shared" in case for case in cases) == FILES
        private = [case for case in cases if "private" in case]
        assert len(private) < FILES  # of 24 cases
        assert len(private) == 2 * len({case.split("[")[0] for case in private})
    assert len({frozenset(cases) for cases in seen}) == 3
    assert seen[0] == set(collected(folder, *plugin, "a"))

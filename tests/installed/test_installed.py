"""The command where it is installed: from an empty folder, and among hostile files."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from harness.proxies import RunningRelay
from harness.targets.reference import ReferenceBroker
from labs.defects.all_defects import ALL_DEFECTS
from tests.installed.conftest import ROOT, Installed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.rotates(5),
    pytest.mark.sample(4),
]  # environments are made, many processes started

HOSTILE_INI = """\
[pytest]
addopts = --no-such-option -p no_such_plugin
python_files = nothing_*.py
testpaths = nowhere
required_plugins = pytest-no-such-plugin
"""
HOSTILE_PYTHON = 'raise SystemExit("a stranger\'s file was imported")\n'
HOSTILE_MODULES = ("harness", "suites", "reports", "pytest", "xdist", "conftest", "click")


def _hostile(folder: Path) -> Path:
    """Create a folder with files that any pytest and any Python in it would read."""
    folder.mkdir()
    (folder / "pytest.ini").write_text(HOSTILE_INI)
    (folder / "setup.cfg").write_text(HOSTILE_INI.replace("[pytest]", "[tool:pytest]"))
    for name in HOSTILE_MODULES:
        (folder / f"{name}.py").write_text(HOSTILE_PYTHON)
    return folder


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The working folder of the command: empty, with hostile files, or below them."""
    place = tmp_path / "empty" if request.param == "empty" else _hostile(tmp_path / "hostile")
    place = place / "below" if request.param == "below hostile" else place
    place.mkdir(exist_ok=True)
    return place


@pytest.mark.parametrize(
    ("installed", "folder"),
    [
        ("wheel", "empty"),
        ("wheel", "hostile"),
        ("wheel", "below hostile"),
        ("editable", "below hostile"),
    ],
    indirect=True,
)
def test_run_passes_in_any_working_folder(installed: Installed, folder: Path) -> None:
    words = ("run", "--target", "reference", "--requirement", "APIV-00[12]", "--jobs", "2")
    ended = installed.run(
        "kafka-conformance", *words, "--out", "out", "--json",
        cwd=folder, PYTEST_ADDOPTS="--no-such-option", PYTEST_PLUGINS="no_such_plugin",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = json.loads(ended.stdout)["runs"]
    assert run["requirements"] == {"APIV-001": "passed", "APIV-002": "passed"}
    assert Path(run["folder"]).is_relative_to(folder)
    gate = installed.run("kafka-conformance", "gate", "out", cwd=folder)
    assert gate.returncode == 0, gate.stdout + gate.stderr


@pytest.mark.parametrize("folder", ["hostile"], indirect=True)
def test_installed_command_lists_requirements_and_judged_areas(
    installed: Installed, folder: Path
) -> None:
    listed = installed.run("kafka-conformance", "requirements", "list", "PROD-*", cwd=folder)
    assert listed.returncode == 0, listed.stderr
    assert "PROD-011" in listed.stdout
    covered = installed.run(
        "kafka-conformance", "requirements", "coverage", "--json",
        cwd=folder, PYTEST_ADDOPTS="--no-such-option",
    )  # fmt: skip
    assert covered.returncode == 0, covered.stdout + covered.stderr
    areas = {area["area"]: area["judged"] for area in json.loads(covered.stdout)["areas"]}
    assert all(areas[name] for name in ("APIV", "CONN", "ENC", "FETCH", "LISTO", "META", "PROD"))


def test_report_without_its_packages_exits_2_and_names_extra(
    installed: Installed, tmp_path: Path
) -> None:
    """Without its packages the command reports that, and the name of the smallest extra."""
    code = "import harness.commands, reports.build; print(reports.build.__file__)"
    imported = installed.run("python", "-P", "-c", code, cwd=tmp_path)
    assert imported.returncode == 0, imported.stderr
    inside = Path(imported.stdout.strip()).is_relative_to(installed.folder)
    assert inside is (installed.kind == "wheel")
    run = ("run", "--requirement", "APIV-001", "--out", "out")
    assert installed.run("kafka-conformance", *run, cwd=tmp_path).returncode == 0
    for words in (("report", "out", "--out", "page"), ("report", "out", "--light")):
        ended = installed.run("kafka-conformance", *words, cwd=tmp_path)
        said = " ".join(ended.stderr.split())
        assert (ended.returncode, "kafka-conformance[light]" in said) == (2, True), said
        assert "Traceback" not in said


def test_repeat_command_from_evidence_runs_single_case(
    installed: Installed, tmp_path: Path
) -> None:
    """A failure prints the command that repeats it, which works where the suites are installed."""
    (defect,) = [one for one in ALL_DEFECTS if one.requirement == "APIV-001"]
    with (
        ReferenceBroker(log_dir=tmp_path / "logs") as target,
        RunningRelay(target.addresses[0], defect.rule()) as relay,
    ):
        spec = "external:{}:{}".format(*relay.address)
        words = ("run", "--target", spec, "--requirement", "APIV-001", "--out", "out")
        ended = installed.run("kafka-conformance", *words, cwd=tmp_path)
        assert ended.returncode == 1, ended.stdout + ended.stderr
        evidence = next((tmp_path / "out").rglob("evidence/*.txt")).read_text()
        (line,) = [text for text in evidence.splitlines() if text.startswith("repeat ")]
        program, *again = shlex.split(line.removeprefix("repeat "))
        cwd = tmp_path if installed.kind == "wheel" else ROOT
        ended = installed.run(program, *again, "--out", tmp_path / "again", cwd=cwd)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    (journal,) = (tmp_path / "again").rglob("journal.jsonl")
    checks = [json.loads(text) for text in journal.read_text().splitlines() if '"check"' in text]
    assert [check["requirement"] for check in checks if check["type"] == "check"] == ["APIV-001"]

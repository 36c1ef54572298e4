"""The pytest of another project: borrowed fixtures work, and do not affect other tests."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.targets.reference import ReferenceBroker
from tests.installed.conftest import ROOT, Installed

FOREIGN = Path(__file__).parent / "foreign"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.rotates(5),
    pytest.mark.sample(4),
]  # environments are made, many processes started


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The foreign project, far from this repository."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(FOREIGN, tmp_path / "foreign", ignore=ignored))


def test_foreign_project_passes_with_fixtures(installed: Installed, project: Path) -> None:
    ended = installed.run("pytest", "-q", cwd=project)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "9 passed" in ended.stdout


def test_foreign_project_passes_on_external_broker(
    installed: Installed, project: Path, tmp_path: Path
) -> None:
    with ReferenceBroker(log_dir=tmp_path / "logs") as target:
        spec = f"external:{target.addresses[0]}"
        ended = installed.run("pytest", "-q", cwd=project, KAFKA_CONFORMANCE_TARGET=spec)
        assert target.is_alive()
    assert "8 passed, 1 skipped" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.parametrize("installed", ["wheel"], indirect=True)
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("refrence", 'did you mean "reference"'),
        ("external:127.0.0.1:1", "no Kafka broker answers at 127.0.0.1:1"),
    ],
)
def test_unavailable_target_gives_short_error_without_traceback(
    installed: Installed, project: Path, spec: str, said: str
) -> None:
    words = ("-q", "-k", "raw_requests", "--tb=short")
    ended = installed.run("pytest", *words, cwd=project, KAFKA_CONFORMANCE_TARGET=spec)
    assert ended.returncode == 1
    assert said in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "fixtures.py" not in ended.stdout


@pytest.mark.parametrize("installed", ["wheel"], indirect=True)
def test_overridden_spec_fixture_selects_targets(installed: Installed, tmp_path: Path) -> None:
    """Two targets, one after the other: the override is parametrized."""
    (tmp_path / "conftest.py").write_text(
        textwrap.dedent(
            """
            import pytest
            pytest_plugins = ("harness.fixtures",)

            @pytest.fixture(scope="session", params=["reference", "external:127.0.0.1:1"])
            def kafka_conformance_spec(request):
                return request.param
            """
        )
    )
    (tmp_path / "test_it.py").write_text("def test_it(kafka_conformance_target): pass\n")
    ended = installed.run("pytest", "-q", cwd=tmp_path)
    assert re.search(r"1 passed, 1 error", ended.stdout), ended.stdout + ended.stderr


def test_project_without_plugin_imports_no_harness_and_gets_no_options(
    installed: Installed, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\ndef test_it(): assert not [n for n in sys.modules if 'harness' in n]\n"
    )
    ended = installed.run("pytest", "-q", "-W", "error", cwd=tmp_path)
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr
    told = installed.run("pytest", "--help", cwd=tmp_path).stdout
    told += installed.run("pytest", "--fixtures", cwd=tmp_path).stdout
    assert "kafka" not in told.lower()
    assert "--target" not in told


@pytest.mark.parametrize("installed", ["wheel"], indirect=True)
def test_foreign_project_passes_strict_mypy(installed: Installed, project: Path) -> None:
    """Mypy, strict, reads the foreign tests with the types that the package ships."""
    config = project / "mypy.ini"
    config.write_text("[mypy]\nstrict = true\n")
    ended = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "mypy", "--config-file", config),
            *("--python-executable", installed.python, "--cache-dir", project / "cache", "."),
        ],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_fixtures_document_lists_all_fixtures_with_scopes() -> None:
    text = (ROOT / "docs/fixtures.md").read_text("utf-8")
    rows = re.findall(r"^\| `(kafka_conformance_\w+)` \| `(\w+)` \|", text, re.MULTILINE)
    source = (ROOT / "harness/fixtures.py").read_text("utf-8")
    there = re.findall(r'scope="(session)"\)\ndef (\w+)|fixture()\ndef (\w+)', source)
    wanted = {(b or d, a or "function") for a, b, _, d in there}
    assert set(rows) == wanted

"""The content of the wheel."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.base import bundle
from harness.base.bundle import unpacked
from harness.base.cache import CACHE_SETTING
from harness.cli import main
from hatch_build import write_archive
from tests.installed.conftest import ROOT, UV, run

LIMIT_BYTES = 25_000_000
SUITES = "harness/_bundled/suites.zip"

DATA = (
    "harness/py.typed",
    "harness/runner/suites.ini",
    "harness/codec/messages.pyi",
    "harness/codec/schemas/ApiVersionsRequest.json",
    "harness/conformance/requirements/catalogue.toml",
    "harness/conformance/observed.tsv",
    "harness/_bundled/suites.zip",
    "harness/targets/data/kafka_artifacts.tsv",
    "harness/negotiation/clients/kafkajs-2.2.4.toml",
)


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


def test_wheel_has_only_harness_as_top_level_package(names: list[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"harness"}


def test_wheel_registers_no_pytest_plugin(wheel: Path, names: list[str]) -> None:
    (entry_points,) = [name for name in names if name.endswith("/entry_points.txt")]
    text = zipfile.ZipFile(wheel).read(entry_points).decode()
    assert "kafka-conformance = harness.cli:main" in text
    assert "pytest11" not in text


@pytest.mark.parametrize("name", DATA)
def test_wheel_contains_data_file(names: list[str], name: str) -> None:
    assert name in names


def _files_of(package: str, place: str) -> set[str]:
    """Where each file of a folder of this tree is to be."""
    wanted = {
        f"{place}/{file.relative_to(ROOT / package).as_posix()}"
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert wanted
    return wanted


@pytest.mark.parametrize("package", ["reports", "docker", "harness"])
def test_wheel_contains_every_file_of_package(names: list[str], package: str) -> None:
    place = "harness" if package == "harness" else f"harness/_bundled/{package}"
    assert _files_of(package, place) - set(names) == set()


def test_wheel_has_the_suites_as_one_archive(wheel: Path, names: list[str], tmp_path: Path) -> None:
    assert [name for name in names if "_bundled/suites" in name] == [SUITES]
    archive = Path(zipfile.ZipFile(wheel).extract(SUITES, tmp_path))
    wanted = _files_of("suites", "suites")
    assert set(zipfile.ZipFile(archive).namelist()) == wanted
    root = unpacked(archive, tmp_path / "cache")
    assert {(root / name).read_bytes() == (ROOT / name).read_bytes() for name in wanted} == {True}
    marked = root / "marked"
    marked.touch()
    assert unpacked(archive, tmp_path / "cache") == root
    assert marked.exists(), "they are unpacked once"
    assert list((tmp_path / "cache").iterdir()) == [root]


def test_the_same_suites_give_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "suites" / "__pycache__").mkdir(parents=True)
    (tmp_path / "suites" / "__pycache__" / "a.pyc").write_text("")
    (tmp_path / "suites" / "a.py").write_text("a = 1\n")
    made = [tmp_path / "1.zip", tmp_path / "2.zip"]
    for archive, time in zip(made, (1_600_000_000, 1_700_000_000), strict=True):
        os.utime(tmp_path / "suites" / "a.py", (time, time))
        write_archive(tmp_path / "suites", archive)
    assert made[0].read_bytes() == made[1].read_bytes()
    assert zipfile.ZipFile(made[0]).namelist() == ["suites/a.py"]


def test_suites_that_cannot_be_unpacked_give_an_error_with_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, results = tmp_path / "suites.zip", tmp_path / "results"
    write_archive(ROOT / "harness" / "base", archive)
    results.mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_SETTING, str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(bundle, "is_bundled", lambda: True)
    monkeypatch.setattr(bundle, "_SUITES", archive)
    bundle.suites_root.cache_clear()
    ended = CliRunner().invoke(main, ["gate", str(results)])
    assert ended.exit_code == 1, ended.output
    said = " ".join(ended.output.split())
    assert "Error: the suites cannot be unpacked into" in said
    assert said.endswith(f"the environment variable {CACHE_SETTING}")


@pytest.mark.slow
@pytest.mark.rotates(5)
def test_a_core_installation_has_less_than_25_mb(wheel: Path, locked: Path, tmp_path: Path) -> None:
    words = ("--constraint", locked, "--target", tmp_path / "core", "--compile-bytecode", wheel)
    run(*UV, "pip", "install", *words)
    sizes = {file: file.stat().st_size for file in (tmp_path / "core").rglob("*") if file.is_file()}
    assert any(file.name.startswith("cli.") and file.suffix == ".pyc" for file in sizes)
    assert sum(sizes.values()) < LIMIT_BYTES


def test_wheel_contains_no_caches_and_no_tests(names: list[str]) -> None:
    assert [
        n for n in names if "__pycache__" in n or n.endswith(".pyc") or "test" in n.split("/")[0]
    ] == []

"""The content of the wheel."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.installed.conftest import ROOT

DATA = (
    "harness/py.typed",
    "harness/runner/suites.ini",
    "harness/codec/messages.pyi",
    "harness/codec/schemas/ApiVersionsRequest.json",
    "harness/conformance/requirements/catalogue.toml",
    "harness/conformance/observed.tsv",
    "harness/_bundled/suites/apache-kafka.profile.toml",
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


@pytest.mark.parametrize("package", ["suites", "reports", "harness"])
def test_wheel_contains_every_file_of_package(names: list[str], package: str) -> None:
    place = "harness" if package == "harness" else f"harness/_bundled/{package}"
    wanted = {
        f"{place}/{file.relative_to(ROOT / package).as_posix()}"
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert wanted
    assert wanted - set(names) == set()


def test_wheel_contains_no_caches_and_no_tests(names: list[str]) -> None:
    assert [
        n for n in names if "__pycache__" in n or n.endswith(".pyc") or "test" in n.split("/")[0]
    ] == []

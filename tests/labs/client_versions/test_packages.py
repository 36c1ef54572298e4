"""Packages are fetched by the registry's program, and only the pinned file is taken."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from labs.client_versions.packages import Package, PackageError, fetch_package
from labs.client_versions.source_text import matching, read_sources

NAME, RELEASE = "madeupclient", "1.2.3"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel in a folder that is pip's only source, and an empty cache of ours."""
    path = tmp_path / f"{NAME}-{RELEASE}-py3-none-any.whl"
    info = f"{NAME}-{RELEASE}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{NAME}/table.py", "VERSIONS = 3\n")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {RELEASE}\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return path


def pinned(wheel: Path, sha: str | None = None) -> Package:
    content = wheel.read_bytes()
    return Package("pip", NAME, RELEASE, sha or sha256(content).hexdigest(), len(content))


def test_pinned_package_is_fetched_once_and_read(wheel: Path) -> None:
    package = pinned(wheel)
    path = fetch_package(package)
    assert path.read_bytes() == wheel.read_bytes()
    wheel.unlink()  # from now on there is only the cache
    assert fetch_package(package) == path
    assert matching(read_sources([path]), r"madeup\w+/.*\.py") == {
        f"{NAME}/table.py": "VERSIONS = 3\n"
    }


def test_package_with_another_checksum_is_refused_and_not_kept(wheel: Path) -> None:
    package = pinned(wheel, "0" * 64)
    with pytest.raises(PackageError, match=f"{NAME} {RELEASE}: the registry has another file"):
        fetch_package(package)
    assert not package.path.exists()


def test_failure_of_the_program_is_shown(wheel: Path) -> None:
    package = pinned(wheel)
    wheel.unlink()
    with pytest.raises(PackageError, match=r"(?s)pip download.*No matching distribution"):
        fetch_package(package)


def test_missing_program_is_named(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    package = Package("npm", NAME, RELEASE, "0" * 64, 1)
    with pytest.raises(PackageError, match="fetched by npm, which is not on PATH; install it"):
        fetch_package(package)

"""Maven: the one on PATH, or a distribution that is fetched once."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from harness.base.cache import cache_dir
from harness.targets.download import download_all
from harness.targets.java import find_java
from harness.targets.maven import base_address
from harness.targets.pinned_file import Download, exclusive

VERSION = "3.9.9"
SHA256 = "4ec3f26fb1a692473aea0235c300bd20f0f9fe741947c82c1234cefd76ac3a3c"
SIZE_BYTES = 9_202_456
BUILD_TIMEOUT_S = 900


class MavenError(Exception):
    """A build failed; the text is the end of what Maven said."""


def maven() -> Path:
    """The executable; raises DownloadError when there is none and none can be had."""
    found = shutil.which("mvn")
    return Path(found) if found else _distribution() / "bin" / "mvn"


def _distribution() -> Path:
    folder = cache_dir() / f"apache-maven-{VERSION}"
    name = f"apache-maven-{VERSION}-bin.zip"
    base = base_address()
    archive = Download(
        name,
        f"{base.url}/org/apache/maven/apache-maven/{VERSION}/{name}",
        base.origin,
        cache_dir() / name,
        SHA256,
        SIZE_BYTES,
    )
    with exclusive(folder):
        if not folder.exists():
            download_all([archive])
            unpacked = cache_dir() / f"{name}.unpacked"
            shutil.rmtree(unpacked, ignore_errors=True)
            with zipfile.ZipFile(archive.path) as files:
                files.extractall(unpacked)
            made = unpacked / folder.name
            (made / "bin" / "mvn").chmod(0o755)
            made.rename(folder)
    return folder


def build(pom: Path, goal: str, properties: dict[str, str]) -> None:
    """Run ``goal``; raises MavenError, JavaError or DownloadError."""
    command = [str(maven()), "-q", "-B", "-ntp", "-f", str(pom)]
    command += [f"-D{name}={value}" for name, value in properties.items()]
    environment = {**os.environ, "JAVA_HOME": str(find_java().home)}
    done = subprocess.run(
        [*command, goal],
        env=environment,
        capture_output=True,
        text=True,
        timeout=BUILD_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise MavenError((done.stdout + done.stderr)[-3000:])

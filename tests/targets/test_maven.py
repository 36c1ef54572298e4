"""Source of Maven's address: setting, mirror, library; and the place of the local repository."""

import sys
from pathlib import Path

import pytest

from harness.targets import maven
from harness.targets.errors import TargetError

SETTINGS = """<settings xmlns="urn:example:settings">
  <localRepository>{local}</localRepository>
  <mirrors><mirror><id>m</id><mirrorOf>{of}</mirrorOf><url>{url}</url>
  <blocked>{blocked}</blocked></mirror></mirrors></settings>"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder and a PATH without any Maven."""
    for name in (maven.URL_SETTING, maven.LOCAL_SETTING, "M2_REPO", "MAVEN_HOME", "M2_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def write(path: Path, of: str, url: str, local: str = "", blocked: str = "false") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SETTINGS.format(of=of, url=url, local=local, blocked=blocked))


def test_url_setting_overrides_mirror(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".m2" / "settings.xml", "central", "http://mirror.test/")
    monkeypatch.setenv(maven.URL_SETTING, "http://setting.test/maven/")
    assert maven.base_address().url == "http://setting.test/maven"
    assert maven.URL_SETTING in maven.base_address().origin


@pytest.mark.parametrize("of", ["central", "*", "external:*", "one, central", "*,!other"])
def test_mirror_of_central_is_used(home: Path, of: str) -> None:
    write(home / ".m2" / "settings.xml", of, "http://mirror.test/")
    assert maven.base_address().url == "http://mirror.test"
    assert "settings.xml" in maven.base_address().origin


@pytest.mark.parametrize("of", ["other", "*,!central", "external:http:*", ""])
def test_mirror_of_other_repository_is_ignored(home: Path, of: str) -> None:
    write(home / ".m2" / "settings.xml", of, "http://mirror.test/")
    assert maven.base_address().url != "http://mirror.test"


def test_blocked_mirror_is_ignored(home: Path) -> None:
    write(home / ".m2" / "settings.xml", "*", "http://mirror.test/", blocked="true")
    assert maven.base_address().url != "http://mirror.test"


def test_settings_of_maven_installation_are_used(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = home / "maven" / "bin" / "mvn"
    write(home / "maven" / "conf" / "settings.xml", "*", "http://installed.test/${env.TEAM}")
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    (home / "mvn").symlink_to(command)
    monkeypatch.setenv("TEAM", "blue")
    assert maven.base_address().url == "http://installed.test/blue"


def test_default_url_comes_from_library(home: Path) -> None:
    from jgo.constants import MAVEN_CENTRAL_URL

    assert maven.base_address().url == MAVEN_CENTRAL_URL.rstrip("/")
    assert maven.base_address().url.startswith("https://")


def test_malformed_settings_file_is_ignored(home: Path) -> None:
    path = home / ".m2" / "settings.xml"
    path.parent.mkdir()
    path.write_text("<settings>")
    assert maven.base_address().url.startswith("https://")


def test_missing_library_raises_target_error_with_setting_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jgo.constants", None)
    with pytest.raises(TargetError, match=maven.URL_SETTING):
        maven.base_address()


def test_local_repository_follows_settings_and_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert maven.local_repository() == home / ".m2" / "repository"
    write(home / ".m2" / "settings.xml", "x", "y", local="${user.home}/elsewhere")
    assert maven.local_repository() == home / "elsewhere"
    monkeypatch.setenv("M2_REPO", "/from/maven")
    assert maven.local_repository() == Path("/from/maven")
    monkeypatch.setenv(maven.LOCAL_SETTING, "/from/us")
    assert maven.local_repository() == Path("/from/us")

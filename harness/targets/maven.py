"""Where released artifacts come from: the user's Maven settings, or what a library knows.

The address of a public repository is not ours to write down: it comes from a setting, from a
mirror in Maven's ``settings.xml``, or from the library jgo, which carries Maven's default.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from harness.base.extras import install_line
from harness.targets.errors import TargetError

URL_SETTING = "KAFKA_CONFORMANCE_MAVEN_URL"
LOCAL_SETTING = "KAFKA_CONFORMANCE_MAVEN_LOCAL"
CENTRAL_ID = "central"  # the id of Maven's built-in repository, which mirrors name


@dataclass(frozen=True)
class BaseAddress:
    """The root of a Maven repository, without a slash at the end, and the source of the setting."""

    url: str
    origin: str


def base_address() -> BaseAddress:
    """The repository to download from.

    Order: the setting ``KAFKA_CONFORMANCE_MAVEN_URL``; a mirror of ``central`` in the user's or
    the installation's Maven settings; Maven's default repository as jgo knows it.
    Raises TargetError when no one knows an address.
    """
    chosen = os.environ.get(URL_SETTING)
    if chosen:
        return BaseAddress(chosen.rstrip("/"), f"the setting {URL_SETTING}")
    for path, settings in _maven_settings():
        mirror = _mirror_of_central(settings)
        if mirror:
            return BaseAddress(mirror.rstrip("/"), f"a mirror in {path}")
    return _default_address()


def _default_address() -> BaseAddress:
    try:
        from jgo.constants import MAVEN_CENTRAL_URL  # slow to import, and seldom needed
    except ImportError as problem:
        raise TargetError(
            f"no Maven repository is known: the package jgo cannot be imported ({problem}). "
            f"Set {URL_SETTING} to the address of a Maven repository, or install jgo: "
            f"{install_line('kafka')}"
        ) from problem
    return BaseAddress(str(MAVEN_CENTRAL_URL).rstrip("/"), "Maven's default, as jgo knows it")


def local_repository() -> Path:
    """Maven's local repository: setting, M2_REPO, ``localRepository`` of the settings, default."""
    for name in (LOCAL_SETTING, "M2_REPO"):
        chosen = os.environ.get(name)
        if chosen:
            return Path(chosen).expanduser()
    for _, settings in _maven_settings():
        named = _text(settings, "localRepository")
        if named:
            return Path(named).expanduser()
    return Path.home() / ".m2" / "repository"


def _maven_settings() -> Iterator[tuple[Path, ElementTree.Element]]:
    """The settings files that exist and can be read: the user's first, as Maven ranks them."""
    for path in _settings_paths():
        try:
            yield path, ElementTree.parse(path).getroot()  # noqa: S314 - the user's own
        except (OSError, ElementTree.ParseError):
            continue  # Maven itself would complain; we have other ways to an address


def _settings_paths() -> Iterator[Path]:
    yield Path.home() / ".m2" / "settings.xml"
    for name in ("MAVEN_HOME", "M2_HOME"):
        if os.environ.get(name):
            yield Path(os.environ[name]) / "conf" / "settings.xml"
    command = shutil.which("mvn")
    if command:
        yield Path(command).resolve().parent.parent / "conf" / "settings.xml"


def _mirror_of_central(settings: ElementTree.Element) -> str | None:
    for mirror in settings.iterfind("./{*}mirrors/{*}mirror"):
        url = _text(mirror, "url")
        blocked = (_text(mirror, "blocked") or "false").lower() == "true"
        if url and not blocked and _covers_central(_text(mirror, "mirrorOf") or ""):
            return url
    return None


def _covers_central(patterns: str) -> bool:
    """Maven's rule for ``mirrorOf``: ids, ``*``, ``external:*``, and exclusions with ``!``."""
    words = [word.strip() for word in patterns.split(",")]
    return f"!{CENTRAL_ID}" not in words and any(
        word in (CENTRAL_ID, "*", "external:*") for word in words
    )


def _text(element: ElementTree.Element, name: str) -> str | None:
    """The text of a child element with ``${env.X}`` and ``${user.home}`` put in, or None."""
    text = (element.findtext(f"./{{*}}{name}") or "").strip()
    return re.sub(r"\$\{([^}]+)\}", _property, text) or None


def _property(match: re.Match[str]) -> str:
    name = match.group(1)
    if name == "user.home":
        return str(Path.home())
    if name.startswith("env."):
        return os.environ.get(name.removeprefix("env."), "")
    return match.group(0)

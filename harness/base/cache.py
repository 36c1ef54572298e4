"""The folder for what is downloaded or unpacked once and used by later runs."""

import os
import sys
from pathlib import Path

CACHE_SETTING = "KAFKA_CONFORMANCE_CACHE"
_OURS = "kafka-conformance"


def cache_dir() -> Path:
    """The cache folder: the setting ``KAFKA_CONFORMANCE_CACHE``, else the user's cache folder."""
    chosen = os.environ.get(CACHE_SETTING)
    return Path(chosen).expanduser().absolute() if chosen else _of_user()


def _of_user() -> Path:
    """As each system has it: the XDG directories, Apple's, and the local data of Windows."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / _OURS / _OURS / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / _OURS
    xdg = os.environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(xdg) if xdg else Path.home() / ".cache") / _OURS

"""What a node remembers of itself in its folder, which belongs to one process at a time."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from harness.reference_broker.storage.log_files import LogFiles

_LOCK, _META, _CLEAN = ".lock", "meta.json", "clean-shutdown.json"


class FolderInUse(OSError):
    """Another process has the folder."""


class NodeFiles:
    """A node's folder: its logs, the id of the folder, the broker epoch of a clean end.

    ``directory_id`` is what a broker registers (KIP-858). ``previous_epoch`` is -1 unless the last
    incarnation ended in good order (KIP-966).
    """

    def __init__(self, folder: Path, cluster_id: str) -> None:
        """Raises FolderInUse, and OSError for a folder of another cluster."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise FolderInUse(f"{folder}: another node uses this folder") from error
        meta = self._read(_META) or {"cluster_id": cluster_id, "directory_id": str(uuid4())}
        if meta["cluster_id"] != cluster_id:
            self.close()
            raise OSError(f"{folder}: it is of the cluster {meta['cluster_id']}, not {cluster_id}")
        self._write(_META, meta)
        self.directory_id = UUID(meta["directory_id"])
        clean = self._read(_CLEAN) or {"broker_epoch": -1}
        (folder / _CLEAN).unlink(missing_ok=True)
        self.previous_epoch = int(clean["broker_epoch"])
        self.logs = LogFiles(folder / "logs")

    def note_clean_end(self, broker_epoch: int) -> None:
        """The next incarnation may say that this one lost nothing."""
        self._write(_CLEAN, {"broker_epoch": broker_epoch})

    def close(self) -> None:
        """Leave the folder to the next process."""
        os.close(self._lock)

    def _read(self, name: str) -> Any:
        path = self._folder / name
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    def _write(self, name: str, value: object) -> None:
        beside = self._folder / f"{name}.new"
        beside.write_text(json.dumps(value), "utf-8")
        beside.replace(self._folder / name)

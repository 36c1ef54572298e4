"""A node's identity in its folder, which belongs to one process at a time.

Source: KIP-631, KIP-858; class MetaPropertiesEnsemble.
"""

from __future__ import annotations

import logging
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

from harness.codec.data_framing import (
    MetaProperties,
    meta_properties_bytes,
    read_meta_properties,
)
from harness.codec.data_framing.log_folder import META_PROPERTIES
from harness.codec.errors import DecodeError
from harness.reference_broker.descriptors import is_exhausted
from harness.reference_broker.state.log.log_store import (
    FolderInUse,
    FolderOfAnother,
    NoDirectoryLeft,
)
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.storage.log_directory import NO_EPOCH, LogDirectory
from harness.reference_broker.storage.open_files import OpenFiles, replace_file
from harness.reference_broker.storage.unopened_directory import UnopenedDirectory

_LOG = logging.getLogger(__name__)
_CLUSTER, _NODE, _DIRECTORY = "cluster.id", "node.id", "directory.id"


class NodeFiles:
    """A node's folders: its logs, and the identity of the node that owns them.

    ``directory_ids`` are those that a broker registers (KIP-858). ``previous_epoch`` is -1 unless
    the last incarnation ended in good order in all of them (KIP-966).
    """

    def __init__(self, folders: Path | Sequence[Path], cluster_id: str, node_id: int) -> None:
        """Raises FolderInUse, FolderOfAnother, NoDirectoryLeft."""
        given = [folders] if isinstance(folders, Path) else list(folders)
        self._open_files = OpenFiles()
        self._opened: list[LogDirectory] = []
        try:
            found = [self._open(folder, cluster_id, node_id) for folder in given]
        except BaseException:
            for directory in self._opened:
                directory.close(broker_epoch=None)
            raise
        self.directory_ids = [directory.directory_id for directory in self._opened]
        self.logs = LogDirectories(found)
        epochs = [directory.previous_epoch for directory in self._opened]
        self.previous_epoch = min(epochs) if len(epochs) == len(given) else NO_EPOCH

    def _open(
        self, folder: Path, cluster_id: str, node_id: int
    ) -> LogDirectory | UnopenedDirectory:
        """Open a folder; one that fails is left out, unless it is the first."""
        try:
            directory = self._claimed(folder, cluster_id, node_id)
        except (FolderInUse, FolderOfAnother):
            raise
        except OSError as error:
            if is_exhausted(error):
                raise
            if not self._opened:
                raise NoDirectoryLeft(
                    f"log directory {folder} cannot be used, and the node cannot live without it:"
                    f" {error}"
                ) from error
            _LOG.error("log directory %s fails, its logs are not served: %s", folder, error)
            return UnopenedDirectory(folder, error)
        self._opened.append(directory)
        return directory

    def _claimed(self, folder: Path, cluster_id: str, node_id: int) -> LogDirectory:
        """Open and claim a folder. Raises FolderInUse, FolderOfAnother, OSError."""
        directory = LogDirectory(folder, self._open_files)
        try:
            directory.directory_id = _claim(folder / META_PROPERTIES, cluster_id, node_id)
        except BaseException:
            directory.close(broker_epoch=None)
            raise
        return directory

    def close(self, *, broker_epoch: int | None = None) -> None:
        """Leave the folder to the next process; with `broker_epoch` as a clean shutdown."""
        self.logs.close(broker_epoch=broker_epoch)


def cluster_id_in(folder: Path) -> str | None:
    """Return the folder's cluster id; None if no cluster has claimed it. Raises OSError."""
    found = _read(folder / META_PROPERTIES)
    return None if found is None else found.get(_CLUSTER)


def _claim(path: Path, cluster_id: str, node_id: int) -> UUID:
    """Return the folder's id, after writing it if it is new. Raises FolderOfAnother."""
    found = _read(path)
    if found is None:
        directory = uuid4()
        found = {
            _DIRECTORY: _text(directory),
            "version": "1",
            _NODE: str(node_id),
            _CLUSTER: cluster_id,
        }
        _write(path, found)
        return directory
    if found.get(_CLUSTER) != cluster_id:
        raise FolderOfAnother(
            f"{path}: it is of the cluster {found.get(_CLUSTER)}, not {cluster_id}"
        )
    if found.get(_NODE, str(node_id)) != str(node_id):
        raise FolderOfAnother(f"{path}: it is of the node {found[_NODE]}, not {node_id}")
    if _DIRECTORY not in found:  # it was written before KIP-858
        directory = uuid4()
        found[_DIRECTORY] = _text(directory)
        _write(path, found)
        return directory
    return UUID(bytes=urlsafe_b64decode(found[_DIRECTORY] + "=="))


def _text(directory: UUID) -> str:
    return urlsafe_b64encode(directory.bytes).decode().rstrip("=")


def _write(path: Path, found: dict[str, str]) -> None:
    comments = ["", time.strftime("%a %b %d %H:%M:%S UTC %Y", time.gmtime())]
    replace_file(path, meta_properties_bytes(MetaProperties(found, comments)))


def _read(path: Path) -> dict[str, str] | None:
    try:
        return read_meta_properties(path.read_bytes()).values
    except FileNotFoundError:
        return None
    except DecodeError as error:
        raise OSError(f"{path}: {error}") from error

"""The limits of a release of Kafka: the formats, folders and features of newer ones it cannot read.

Sources: KIP-32 and KIP-98 (record formats), KIP-110 (zstd), KIP-113 (future logs), KIP-405 (the
index cache), KIP-853 (quorum-state), KIP-858 (stray folders, directory.id), KIP-584 and KIP-1022
(features; the levels are those of the classes MetadataVersion and Feature in the releases' jars).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.codec.releases import ReleaseRange, release_numbers
from harness.log_tools.folder_names import DELETED, FUTURE, REMOTE_INDEXES, STRAY

METADATA_VERSION = "metadata.version"
Levels = tuple[int, int]
"""The lowest and the highest level of a feature."""

_MAGIC_SINCE = {1: "0.10", 2: "0.11"}
_CODEC_SINCE = {"lz4": "0.8.2", "zstd": "2.1"}
FOLDER_SINCE = {DELETED: "0.10.2", FUTURE: "1.1", STRAY: "3.6.1", REMOTE_INDEXES: "3.5"}
"""The first release that takes such a folder, by the end of its name."""
_FIRST_KRAFT, _LAST_ZOOKEEPER = "3.0", "3.9"
_KRAFT_10 = {"kraft.version": (0, 1), "transaction.version": (0, 2), "group.version": (0, 1),
             "eligible.leader.replicas.version": (0, 1)}  # fmt: skip
_SHARE = {**_KRAFT_10, "share.version": (0, 1), "streams.version": (0, 0)}
_STREAMS = {**_SHARE, "streams.version": (0, 1)}
FEATURES: Mapping[str, Mapping[str, Levels]] = {
    "3.3": {METADATA_VERSION: (1, 7)},
    "3.4": {METADATA_VERSION: (1, 8)},
    "3.5": {METADATA_VERSION: (1, 11)},
    "3.6": {METADATA_VERSION: (1, 14)},
    "3.7": {METADATA_VERSION: (1, 19)},
    "3.8": {METADATA_VERSION: (1, 20)},
    "3.9": {METADATA_VERSION: (1, 21), "kraft.version": (0, 1)},
    "4.0": {METADATA_VERSION: (7, 25), **_KRAFT_10},
    "4.1": {METADATA_VERSION: (7, 27), **_SHARE},
    "4.2": {METADATA_VERSION: (7, 29), **_STREAMS},
    "4.3": {METADATA_VERSION: (7, 30), **_STREAMS},
    "4.4": {METADATA_VERSION: (7, 33), **_STREAMS, "share.version": (0, 2)},
}
"""The levels that the releases of a minor line support without unstable ones."""


@dataclass(frozen=True, slots=True)
class ReleaseLimits:
    """The limits of a release such as 3.9.2 or 3.9. Raises ValueError for what is no release."""

    release: str

    def __post_init__(self) -> None:
        release_numbers(self.release)

    def is_in(self, releases: str) -> bool:
        """True if the release is in a range such as ``2.8-3.6`` or ``3.7+``."""
        return release_numbers(self.release) in ReleaseRange.parse(releases)

    @property
    def has_zookeeper(self) -> bool:
        """True if the release can be a broker with ZooKeeper."""
        return self.is_in(f"0.7-{_LAST_ZOOKEEPER}")

    @property
    def has_kraft(self) -> bool:
        """True if the release can be a node of KRaft; the preview in 2.8 does not count."""
        return self.is_in(f"{_FIRST_KRAFT}+")

    @property
    def magic(self) -> int:
        """The highest record format that it reads."""
        return max((n for n, since in _MAGIC_SINCE.items() if self.is_in(f"{since}+")), default=0)

    def has_codec(self, name: str) -> bool:
        """True if it reads batches that are compressed so."""
        return self.is_in(f"{_CODEC_SINCE.get(name, '0.7')}+")

    def has_folder(self, end: str) -> bool:
        """True if it takes folders with a name that ends so, of :data:`FOLDER_SINCE`."""
        return self.is_in(f"{FOLDER_SINCE[end]}+")

    @property
    def features(self) -> Mapping[str, Levels] | None:
        """The levels of the features that it supports; None where they are not known."""
        known = (levels for line, levels in FEATURES.items() if self.is_in(line))
        return next(known, None)

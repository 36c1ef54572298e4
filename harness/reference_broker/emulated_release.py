"""The emulated release of Apache Kafka: its advertised versions, and its behaviour by date.

``advertised.tsv`` has the ApiVersions responses of brokers of the releases: with a ZooKeeper up to
2.8.2, without from 3.9.2 on, as is usual for them. Code with a behaviour by date
calls ``state.like.since(2, 8)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from harness.base.suggestion import did_you_mean
from harness.codec.package_text import package_text

Range = tuple[int, int]
_WITHOUT_ZOOKEEPER = (3, 9)  # as in the table
_PRODUCE, _FIRST_PRODUCE_WITH_BATCHES = 0, 3
_PRODUCE_0_IS_SHOWN_ONLY = (4, 0)  # KAFKA-18659


class LikenessError(ValueError):
    """The broker cannot emulate this release; the message lists the releases that it can."""


@dataclass(frozen=True, slots=True)
class EmulatedRelease:
    """One emulated release, or none: then the broker serves all versions that ever existed.

    Attributes:
        release: as in ``2.8.2``; empty for none.
        api_versions: by API key, the advertised versions of the release; empty for none.
    """

    release: str = ""
    api_versions: Mapping[int, Range] = field(default_factory=dict)

    @classmethod
    def of(cls, release: str) -> EmulatedRelease:
        """Raises LikenessError for a release that is not in the table."""
        known = releases()
        if release not in known:
            near = did_you_mean(release, known)
            raise LikenessError(
                f"nothing is known to be like {release!r}{near}; known are: {', '.join(known)}"
            )
        pairs = (word.split("=") for word in _rows()[release].split())
        ranges = {int(key): _range(text) for key, text in pairs}
        return cls(release, ranges)

    def since(self, *numbers: int) -> bool:
        """True if the release is ``numbers`` or later; no release counts as later than all."""
        if not self.release:
            return True
        return tuple(map(int, self.release.split("."))) >= numbers

    @property
    def has_zookeeper(self) -> bool:
        """True if offsets of version 0 can be stored; no release has all that ever existed."""
        return not self.release or not self.since(*_WITHOUT_ZOOKEEPER)

    @property
    def keeps_topics_in_zookeeper(self) -> bool:
        """True if the release's controller keeps topics, configs and quotas in ZooKeeper.

        Such a controller checks requests in another order than KRaft (class ZkAdminManager).
        """
        return bool(self.release) and self.has_zookeeper

    @property
    def between_nodes(self) -> EmulatedRelease:
        """The release that nodes of a cluster emulate between themselves.

        Releases with a ZooKeeper do not know the protocol of this broker's clusters, so their nodes
        use the one of no release.
        """
        return LIKE_NONE if self.has_zookeeper else self

    def advertised(self, api_key: int, lowest: int, highest: int) -> Range | None:
        """Return the versions that the release advertises and the broker serves, or None."""
        first, last = self.api_versions.get(api_key, (0, -1))
        low, high = max(first, lowest), min(last, highest)
        return (low, high) if low <= high else None

    def served_from(self, api_key: int) -> int:
        """Return the lowest version to serve.

        The release advertises lower ones only for clients that look for them.
        """
        hidden = api_key == _PRODUCE and self.release and self.since(*_PRODUCE_0_IS_SHOWN_ONLY)
        return _FIRST_PRODUCE_WITH_BATCHES if hidden else 0


LIKE_NONE = EmulatedRelease()


def releases() -> tuple[str, ...]:
    """Return the releases that the broker can emulate, in their order."""
    return tuple(_rows())


@cache
def _rows() -> Mapping[str, str]:
    text = package_text("harness.reference_broker", "advertised.tsv")
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {release: ranges for release, ranges in rows}  # noqa: C416 - says what is in a row


def _range(text: str) -> Range:
    low, high = text.split("-")
    return int(low), int(high)

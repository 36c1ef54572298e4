"""Ids of log directories that are none: what is known of a replica's place before it has one.

Source: KIP-858; class DirectoryId.
"""

from collections.abc import Sequence
from uuid import UUID

MIGRATING, UNASSIGNED, LOST = UUID(int=0), UUID(int=1), UUID(int=2)
"""In whichever the replica is; in none yet; in one that has failed."""
_RESERVED = 100


def is_reserved(directory: UUID) -> bool:
    """Whether it means something else than a directory."""
    return directory.int < _RESERVED


def is_online(directory: UUID, registered: Sequence[UUID]) -> bool:
    """Whether a replica there can be served by a broker with these directories."""
    if directory in (MIGRATING, UNASSIGNED):
        return True
    return directory != LOST and (not registered or directory in registered)

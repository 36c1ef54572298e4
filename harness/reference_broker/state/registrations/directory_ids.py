"""Reserved ids of log directories, for a replica without a known directory.

Source: KIP-858; class DirectoryId.
"""

from collections.abc import Sequence
from uuid import UUID

MIGRATING, UNASSIGNED, LOST = UUID(int=0), UUID(int=1), UUID(int=2)
"""The directory is unknown; there is none yet; it has failed."""
_RESERVED = 100


def is_reserved(directory: UUID) -> bool:
    """True if the id is reserved, and so not the id of a directory."""
    return directory.int < _RESERVED


def is_online(directory: UUID, registered: Sequence[UUID]) -> bool:
    """True if a broker with these directories can serve a replica in this one."""
    if directory in (MIGRATING, UNASSIGNED):
        return True
    return directory != LOST and (not registered or directory in registered)

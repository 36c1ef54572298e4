"""All defects that are a wrong function of what the built-in broker stores: logs, files, groups."""

from __future__ import annotations

from labs.defects import (
    stored_disk,
    stored_groups,
    stored_nodes,
    stored_recv,
    stored_start,
    stored_stor,
    stored_whole,
    stored_wishes,
)
from labs.defects.defect import Defect

WRONG_STORAGE: list[Defect] = [
    *stored_disk.DEFECTS,
    *stored_groups.DEFECTS,
    *stored_nodes.DEFECTS,
    *stored_recv.DEFECTS,
    *stored_start.DEFECTS,
    *stored_stor.DEFECTS,
    *stored_whole.DEFECTS,
    *stored_wishes.DEFECTS,
]

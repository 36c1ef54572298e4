"""Defects that are a wrong function of the built-in broker: logs, files, groups, connections."""

from __future__ import annotations

from labs.defects import (
    conn_memory,
    conn_places,
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
    *conn_memory.DEFECTS,
    *conn_places.DEFECTS,
    *stored_disk.DEFECTS,
    *stored_groups.DEFECTS,
    *stored_nodes.DEFECTS,
    *stored_recv.DEFECTS,
    *stored_start.DEFECTS,
    *stored_stor.DEFECTS,
    *stored_whole.DEFECTS,
    *stored_wishes.DEFECTS,
]

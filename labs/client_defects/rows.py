"""The defects of the area CLIENT: a row for each requirement."""

from __future__ import annotations

from labs.client_defects import admin, groups, records
from labs.defects.defect import Defect

ROWS: tuple[Defect, ...] = (*admin.DEFECTS, *records.DEFECTS, *groups.DEFECTS)

KAFKA_ALONE = frozenset({"CLIENT-027"})
"""The built-in broker does not serve ConsumerGroupHeartbeat: a Kafka shows it."""

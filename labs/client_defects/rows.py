"""The defects of the area CLIENT: a row for each requirement."""

from __future__ import annotations

from labs.client_defects import admin, groups, records, refusals, struck
from labs.defects.defect import Defect

ROWS: tuple[Defect, ...] = (
    *admin.DEFECTS,
    *records.DEFECTS,
    *groups.DEFECTS,
    *struck.DEFECTS,
    *refusals.DEFECTS,
)

BY_ANOTHER = {"CLIENT-044": "kafka-python", "CLIENT-051": "kafka-python"}
"""confluent-kafka does not ask again there, at any broker: this client does."""

KAFKA_ALONE = frozenset({"CLIENT-027"})
"""The built-in broker does not serve ConsumerGroupHeartbeat: a Kafka shows it."""

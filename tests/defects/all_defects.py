"""Every defect, from the files of the areas."""

from __future__ import annotations

from tests.defects import (
    apiv,
    conn,
    enc,
    fetch,
    fetch_sessions,
    listo,
    meta,
    prod,
    prod_stored,
    topic,
    topic_later,
)
from tests.defects.defect import Defect

ALL_DEFECTS: list[Defect] = [
    *apiv.DEFECTS,
    *conn.DEFECTS,
    *enc.DEFECTS,
    *meta.DEFECTS,
    *prod.DEFECTS,
    *prod_stored.DEFECTS,
    *fetch.DEFECTS,
    *fetch_sessions.DEFECTS,
    *listo.DEFECTS,
    *topic.DEFECTS,
    *topic_later.DEFECTS,
]

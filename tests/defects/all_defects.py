"""Every defect, from the files of the areas."""

from __future__ import annotations

from tests.defects import apiv, conn, enc, fetch, listo, meta, prod, topic, topic_later
from tests.defects.defect import Defect

ALL_DEFECTS: list[Defect] = [
    *apiv.DEFECTS,
    *conn.DEFECTS,
    *enc.DEFECTS,
    *meta.DEFECTS,
    *prod.DEFECTS,
    *fetch.DEFECTS,
    *listo.DEFECTS,
    *topic.DEFECTS,
    *topic_later.DEFECTS,
]

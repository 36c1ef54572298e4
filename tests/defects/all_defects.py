"""Every defect, from the files of the areas."""

from __future__ import annotations

from tests.defects import apiv, conn, coord, enc, fetch, listo, meta, meta_describe, prod
from tests.defects.defect import Defect

ALL_DEFECTS: list[Defect] = [
    *apiv.DEFECTS,
    *conn.DEFECTS,
    *enc.DEFECTS,
    *meta.DEFECTS,
    *meta_describe.DEFECTS,
    *coord.DEFECTS,
    *prod.DEFECTS,
    *fetch.DEFECTS,
    *listo.DEFECTS,
]

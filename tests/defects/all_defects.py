"""Every defect, from the files of the areas."""

from __future__ import annotations

from tests.defects import (
    apiv,
    conn,
    conn_requests,
    coord,
    enc,
    enc_plain,
    fetch,
    listo,
    meta,
    meta_describe,
    prod,
)
from tests.defects.defect import Defect

ALL_DEFECTS: list[Defect] = [
    *apiv.DEFECTS,
    *conn.DEFECTS,
    *conn_requests.DEFECTS,
    *enc.DEFECTS,
    *enc_plain.DEFECTS,
    *meta.DEFECTS,
    *meta_describe.DEFECTS,
    *coord.DEFECTS,
    *prod.DEFECTS,
    *fetch.DEFECTS,
    *listo.DEFECTS,
]

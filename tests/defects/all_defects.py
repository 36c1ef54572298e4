"""Every defect, from the files of the areas."""

from __future__ import annotations

from tests.defects import (
    apiv,
    conn,
    conn_cut,
    conn_requests,
    conn_stream,
    coord,
    enc,
    enc_plain,
    fetch,
    fetch_lost,
    fetch_sessions,
    idem,
    listo,
    meta,
    meta_describe,
    prod,
    prod_stored,
    topic,
    topic_later,
    topic_lost,
)
from tests.defects.defect import Defect

ALL_DEFECTS: list[Defect] = [
    *apiv.DEFECTS,
    *conn.DEFECTS,
    *conn_cut.DEFECTS,
    *conn_requests.DEFECTS,
    *conn_stream.DEFECTS,
    *coord.DEFECTS,
    *enc.DEFECTS,
    *enc_plain.DEFECTS,
    *fetch.DEFECTS,
    *fetch_lost.DEFECTS,
    *fetch_sessions.DEFECTS,
    *idem.DEFECTS,
    *listo.DEFECTS,
    *meta.DEFECTS,
    *meta_describe.DEFECTS,
    *prod.DEFECTS,
    *prod_stored.DEFECTS,
    *topic.DEFECTS,
    *topic_later.DEFECTS,
    *topic_lost.DEFECTS,
]

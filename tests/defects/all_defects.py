"""Every defect, from the files of the areas."""

from __future__ import annotations

from tests.defects import conn, meta, prod
from tests.defects.defect import Defect

ALL_DEFECTS: list[Defect] = [*conn.DEFECTS, *meta.DEFECTS, *prod.DEFECTS]

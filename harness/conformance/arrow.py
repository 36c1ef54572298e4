"""The one door to pyarrow, which carries no types of its own."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import pyarrow
import pyarrow.parquet

pa: Final[Any] = pyarrow
pq: Final[Any] = pyarrow.parquet

Table: TypeAlias = Any
"""A pyarrow.Table."""

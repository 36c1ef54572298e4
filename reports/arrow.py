"""PyArrow, which ships no types: its modules as Any, named once for this room."""

from typing import Any, Final

import pyarrow
import pyarrow.parquet

pa: Final[Any] = pyarrow
pq: Final[Any] = pyarrow.parquet

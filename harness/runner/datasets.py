"""The datasets that a run leaves beside its journal, as Parquet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.conformance.beside_parquet import BesideDataset
    from harness.conformance.parquet import Conversion


def load_parquet() -> None:
    """Import pyarrow beside other work; what needs it waits for as much of it as is left."""
    threading.Thread(target=_modules, name="load pyarrow", daemon=True).start()


def write_parquet(out: Path) -> list[str]:
    """Make all datasets of the runs in ``out``; a sentence for each that cannot be made."""
    ensure_results, beside = _modules()
    ensure_results(out)
    return [
        f"no {what}: {why}"
        for what, dataset in beside.items()
        for _, why in dataset.ensure(out).unreadable
    ]


def _modules() -> tuple[Callable[[Path], Conversion], Mapping[str, BesideDataset]]:
    """Return the maker of the results, and the datasets beside them by content."""
    from harness.conformance.fault_parquet import FAULTS
    from harness.conformance.history_parquet import HISTORIES
    from harness.conformance.parquet import ensure_parquet
    from harness.conformance.wire_parquet import WIRE

    return ensure_parquet, {
        "coverage from the wire": WIRE,
        "timeline of faults": FAULTS,
        "history of clients": HISTORIES,
    }

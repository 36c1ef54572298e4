"""The datasets that a run leaves beside its journal, as Parquet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.conformance.dataset import RunDataset
    from harness.conformance.parquet import Conversion


def load_parquet() -> None:
    """Import pyarrow beside other work; what needs it waits for as much of it as is left."""
    threading.Thread(target=_modules, name="load pyarrow", daemon=True).start()


def write_parquet(out: Path) -> list[str]:
    """Make all datasets of the runs in ``out``; a sentence for each that cannot be made."""
    ensure, results, beside = _modules()
    ensure(results, out)
    return [
        f"no {what}: {why}"
        for what, dataset in beside.items()
        for _, why in ensure(dataset, out).unreadable
    ]


def _modules() -> tuple[
    Callable[[RunDataset, Path], Conversion], RunDataset, Mapping[str, RunDataset]
]:
    """Return the converter, the results, and the datasets beside them by content."""
    from harness.conformance.fault_journal import FAULTS
    from harness.conformance.history_journal import HISTORIES
    from harness.conformance.parquet import ensure_parquet
    from harness.conformance.results import RESULTS
    from harness.conformance.wire import WIRE

    beside = {
        "coverage from the wire": WIRE,
        "timeline of faults": FAULTS,
        "history of clients": HISTORIES,
    }
    return ensure_parquet, RESULTS, beside

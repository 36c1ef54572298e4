"""The check of a batch against the record formats and compressions that one release has.

Tried on real brokers by tests/log_tools/test_kafka_releases.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.codec.records.log_batch import LogBatch
from harness.log_tools.findings import Finding
from harness.log_tools.release_limits import ReleaseLimits

_CUT = (
    "recovery takes it for damage and cuts the log here; behind a clean shutdown it counts as one"
    " record, readers get it as it is, and new records repeat its other offsets"
)
_UNREAD = "the log keeps it, and readers get it as it is; the broker itself cannot open it"


def check_batch(log: Path, batch: LogBatch, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield what the release cannot read of a batch."""
    place = batch.position, batch.base_offset
    if batch.magic > limits.magic:
        problem = f"magic {batch.magic}, release {limits.release} reads up to {limits.magic}"
        yield Finding(log, "release-magic", problem, _CUT, *place)
    elif not limits.has_codec(batch.compression):
        problem = f"{batch.compression}, which release {limits.release} does not have"
        yield Finding(log, "release-codec", problem, _UNREAD, *place)

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
    "it is taken for damage: recovery cuts the log here, and behind a clean shutdown readers get"
    " bytes that they cannot read"
)
_UNREAD = "it is kept and sent as it is; what has to open it, as compaction, fails"


def check_batch(log: Path, batch: LogBatch, limits: ReleaseLimits) -> Iterator[Finding]:
    """Yield what the release cannot read of a batch."""
    place = batch.position, batch.base_offset
    if batch.magic > limits.magic:
        problem = f"magic {batch.magic}, release {limits.release} reads up to {limits.magic}"
        yield Finding(log, "release-magic", problem, _CUT, *place)
    elif not limits.has_codec(batch.compression):
        problem = f"{batch.compression}, which release {limits.release} does not have"
        yield Finding(log, "release-codec", problem, _UNREAD, *place)

"""Values of topic configs at their limits, and values that no release with the config accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.codec.error_code import ErrorCode

# Each a number, a list or a word at a limit; most are the least or the most.
AT_LIMITS = {
    "cleanup.policy": "compact,delete",
    "compression.type": "uncompressed",
    "delete.retention.ms": "0",
    "file.delete.delay.ms": "0",
    "flush.messages": "1",
    "flush.ms": "0",
    "index.interval.bytes": "0",
    "leader.replication.throttled.replicas": "*",
    "max.compaction.lag.ms": "1000",
    "max.message.bytes": "0",
    "message.timestamp.type": "LogAppendTime",
    "min.cleanable.dirty.ratio": "1.0",
    "min.compaction.lag.ms": "1000",  # as long as the largest lag
    "min.insync.replicas": "1",
    "preallocate": "false",
    "retention.ms": "-1",
    "segment.index.bytes": "4",
    "segment.jitter.ms": "0",
    "segment.ms": "1",
}
# Values of one config, each of them alone invalid.
INVALID = {
    "no.such.config": ("1",),
    "cleanup.policy": ("shred", "compact,shred"),
    "compression.type": ("brotli",),
    "delete.retention.ms": ("-1",),
    "file.delete.delay.ms": ("-1",),
    "flush.messages": ("0",),
    "flush.ms": ("-1",),
    "index.interval.bytes": ("-1",),
    "leader.replication.throttled.replicas": ("all",),
    "max.compaction.lag.ms": ("0",),
    "max.message.bytes": ("-1", "2147483648"),
    "message.timestamp.type": ("Sometime",),
    "min.cleanable.dirty.ratio": ("1.5", "-0.1", "half"),
    "min.compaction.lag.ms": ("-1",),
    "min.insync.replicas": ("0",),
    "preallocate": ("perhaps",),
    "retention.bytes": ("all",),
    "segment.bytes": ("13",),
    "segment.index.bytes": ("3",),
    "segment.jitter.ms": ("-1",),
    "segment.ms": ("soon", "0", "1.5", "9223372036854775808"),
    "unclean.leader.election.enable": ("1",),
}
# Configs that limit each other: each value alone is valid.
CONTRADICTORY = {"min.compaction.lag.ms": "2000", "max.compaction.lag.ms": "1000"}


def expect_all_refused(alter: Callable[[Mapping[str, str]], int]) -> None:
    """Call ``alter`` with each invalid set of configs: its error code must be INVALID_CONFIG."""
    bad = [{name: value} for name, values in INVALID.items() for value in values]
    wrong = []
    for configs in (*bad, CONTRADICTORY):
        code = alter(configs)
        if code != ErrorCode.INVALID_CONFIG:
            named = ",".join(f"{name}={value}" for name, value in configs.items())
            wrong.append(f"{named}: error is {ErrorCode.describe(code)}")
    assert not wrong, f"expected INVALID_CONFIG: {'; '.join(wrong)}"

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
    "retention.bytes": "-1",
    "retention.ms": "-1",
    "segment.index.bytes": "4",
    "segment.jitter.ms": "0",
    "segment.ms": "1",
}
# The other ends, and values beside a range, of the configs that the release has.
AT_OTHER_LIMITS = {
    "cleanup.policy": "compact",
    "compression.gzip.level": "9",
    "compression.lz4.level": "17",
    "compression.type": "producer",
    "compression.zstd.level": "22",
    "follower.replication.throttled.replicas": "0:1,1:1",
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "max.compaction.lag.ms": "1",
    "max.decompressed.message.bytes": "1",
    "max.message.bytes": "2147483647",
    "message.timestamp.after.max.ms": "0",
    "message.timestamp.before.max.ms": "0",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.0",
    "min.compaction.lag.ms": "0",
    "preallocate": "true",
    "retention.bytes": "-9223372036854775808",  # only its type limits it
    "retention.ms": "0",
    "segment.ms": "9223372036854775807",
}
LEVELS_WITHOUT_CHOICE = {"compression.gzip.level": "-1", "compression.lz4.level": "1"}
# Values of one config, each of them alone invalid. A release that does not know the config refuses
# it as well.
INVALID = {
    "no.such.config": ("1",),
    "cleanup.policy": ("shred", "compact,shred", "shred,compact", "Compact"),
    "compression.gzip.level": ("0", "10"),
    "compression.lz4.level": ("0", "18"),
    "compression.type": ("brotli", "GZIP"),
    "compression.zstd.level": ("23", "-131073"),
    "delete.retention.ms": ("-1",),
    "file.delete.delay.ms": ("-1",),
    "flush.messages": ("0",),
    "flush.ms": ("-1",),
    "follower.replication.throttled.replicas": ("1", "0:1,one"),
    "index.interval.bytes": ("-1",),
    "leader.replication.throttled.replicas": ("all",),
    "local.retention.bytes": ("-3",),
    "local.retention.ms": ("-3",),
    "max.compaction.lag.ms": ("0",),
    "max.decompressed.message.bytes": ("0", "2147483640"),
    "max.message.bytes": ("-1", "2147483648"),
    "message.timestamp.after.max.ms": ("-1",),
    "message.timestamp.before.max.ms": ("-1",),
    "message.timestamp.type": ("Sometime", "createtime"),
    "min.cleanable.dirty.ratio": ("1.5", "-0.1", "half"),
    "min.compaction.lag.ms": ("-1",),
    "min.insync.replicas": ("0",),
    "preallocate": ("perhaps", ""),
    "retention.bytes": ("all", "-9223372036854775809"),
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

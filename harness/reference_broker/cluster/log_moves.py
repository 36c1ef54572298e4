"""Moves of replicas to another folder, as fast as their quota allows.

Source: KIP-113; classes ReplicaAlterLogDirsThread, ReplicationQuotaManager.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.base.ids import TimeMs
from harness.reference_broker.node import Node
from harness.reference_broker.state.quotas.rate import Rate
from harness.reference_broker.state.replica_moves.log_moving import moving_round
from harness.reference_broker.upkeep import Upkeep
from harness.reference_broker.wall_clock import now_ms

_QUOTA = "replica.alter.log.dirs.io.max.bytes.per.second"
_LOOK_MS = 100


def log_moves(node: Node) -> Upkeep:
    """Return the upkeep for moves; its interval is short because clients wait for a move."""
    rate = Rate()

    def may_go_on(moved_bytes: int) -> bool:
        now = now_ms()
        rate.record(moved_bytes, now)
        limit = node.state.configs.value(_QUOTA)
        if limit is None:
            return True
        return rate.throttle_ms(max(int(limit), 1), now) == 0

    def steps(_now: TimeMs) -> Iterator[None]:
        if node.state.cluster.host.moving and may_go_on(0):
            for effects in moving_round(node.state.cluster, now_ms, may_go_on):
                node.carry_out(effects)
                yield

    return Upkeep(steps, now_ms, _LOOK_MS, lambda: _LOOK_MS)

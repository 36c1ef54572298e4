"""The end of an example: all faults stop, everything arrives, and all replicas become equal."""

from __future__ import annotations

from harness.base.ids import TimeMs
from labs.replication_model.invariants import Invariants, hold
from labs.replication_model.network import fetch_of, proposed_by
from labs.replication_model.world import ModelWorld

_ROUNDS = 60
_ROUND_MS = 100
_SIZE = 10_000


def heal(world: ModelWorld, invariants: Invariants) -> None:
    """Run until nothing is left to do. Raises Broken if the replicas do not become equal."""
    world.on_its_way.clear()
    for broker in world.alive:
        if broker.wants_shut_down:
            broker.crash(0)  # its time to hand over is up
        broker.silent = False
    for _ in range(_ROUNDS):
        _round(world, invariants)
        if is_healed(world):
            return
    hold(False, f"no rest: {world.controller.registered}, {told(world)}")


def _round(world: ModelWorld, invariants: Invariants) -> None:
    controller = world.controller
    world.now = TimeMs(world.now + _ROUND_MS)
    while controller.fence_stale(world.now):
        pass
    for broker in world.brokers:
        if broker.state is None:
            broker.start(controller, world.now)
    world.beat()
    world.beat()
    if controller.registered.leader < 0:
        controller.elect(world.now, unclean=True)
    for broker in world.alive:
        world.read_all(broker)
        invariants.check()
    for broker in world.alive:
        proposed = proposed_by(broker)
        if proposed is not None:
            world.deliver_with_answer(proposed)
        asked = fetch_of(broker, _SIZE)
        if asked is not None:
            world.deliver_with_answer(asked)
        invariants.check()
    world.settle_produces()


def is_healed(world: ModelWorld) -> bool:
    """True if all replicas are present, in sync and equal, and all records are committed."""
    registered = world.controller.registered
    replicas = [world.broker(each) for each in registered.replicas]
    partitions = [one.partition for one in replicas]
    if registered.leader < 0 or {*registered.isr} != {*registered.replicas}:
        return False
    if registered.is_reassigned or any(one is None or not one.is_here for one in partitions):
        return False
    if any(one.read < len(world.controller.written) for one in world.alive):
        return False
    leader = world.broker(registered.leader)
    ends = {one.high_watermark for one in partitions if one is not None}
    # A leader that was none any more may have deleted more than the present one knows.
    start, end = max(one.log.start_offset for one in replicas), leader.log.end_offset
    return ends == {end} and all(
        one.log.between(start, end) == leader.log.between(start, end) for one in replicas
    )


def told(world: ModelWorld) -> str:
    """Describe each broker in a few words."""
    return "; ".join(
        f"{one.id}: epoch {one.epoch}, up to {one.log.end_offset}, "
        f"watermark {None if one.partition is None else one.partition.high_watermark}"
        f"{', leads' if one.leads else ''}{', down' if one.state is None else ''}"
        for one in world.brokers
    )

"""The possible steps: a table of rules, each with two drawn numbers that make it definite.

A rule returns True if it did anything: where it does not apply, nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.base.ids import TimeMs
from labs.replication_model.broker import LAG_MS, Broker
from labs.replication_model.network import (
    FetchAnswered,
    FetchAsked,
    Proposed,
    Settled,
    fetch_of,
    proposed_by,
)
from labs.replication_model.world import ModelWorld, WaitingFetch, pick

Rule = Callable[[ModelWorld, int, int], bool]
_MOMENTS_MS = (1, 50, LAG_MS // 2, LAG_MS + 1, LAG_MS + 1, LAG_MS + 1)
_SIZES = (1, 100, 10_000)


def _leader(world: ModelWorld, one: int) -> Broker | None:
    return pick([each for each in world.alive if each.leads], one)


def _produce(world: ModelWorld, leader: Broker, number: int) -> None:
    world.produced += 1
    leader.append(str(world.produced), 1 + number % 3, world.now)


def produce(world: ModelWorld, one: int, other: int) -> bool:
    """A client writes with acks=1 to a broker that believes that it leads."""
    leader = _leader(world, one)
    if leader is not None:
        _produce(world, leader, other)
    return leader is not None


def produce_all(world: ModelWorld, one: int, other: int) -> bool:
    """A client writes with acks=all; the answer waits."""
    leader = _leader(world, one)
    partition = None if leader is None else leader.partition
    if leader is None or partition is None or partition.leading is None:
        return False
    if len(partition.leading.isr) < partition.min_isr:
        return False  # NOT_ENOUGH_REPLICAS
    world.produced += 1
    batches = leader.append(str(world.produced), 1 + other % 3, world.now)
    world.waiting.append(WaitingFetch(partition, partition.log.end_offset, batches))
    return True


def delete_records(world: ModelWorld, one: int, other: int) -> bool:
    """A client deletes some of what is committed; the log may start within a batch then."""
    leader = _leader(world, one)
    if leader is None or leader.partition is None:
        return False
    start, end = leader.partition.log.start_offset, leader.partition.high_watermark
    if start == end:
        return False
    leader.partition.delete_records(start + 1 + other % (end - start))
    return True


def _next_fetch(world: ModelWorld, one: int, size: int) -> FetchAsked | None:
    """Return the next fetch of a follower that waits for no answer from that leader."""
    asked = [fetch_of(each, _SIZES[size % len(_SIZES)]) for each in world.alive]
    busy = {
        (fetch.follower.id, fetch.epoch, fetch.leader)
        for fetch in (
            each.asked if isinstance(each, FetchAnswered) else each for each in world.on_its_way
        )
        if isinstance(fetch, FetchAsked)
    }
    ready = [
        each
        for each in asked
        if each is not None and (each.follower.id, each.epoch, each.leader) not in busy
    ]
    return pick(ready, one)


def fetch(world: ModelWorld, one: int, other: int) -> bool:
    """A follower fetches once, without delay."""
    asked = _next_fetch(world, one, other)
    if asked is not None:
        world.deliver_with_answer(asked)
    return asked is not None


def send_fetch(world: ModelWorld, one: int, other: int) -> bool:
    """A follower sends a fetch."""
    asked = _next_fetch(world, one, other)
    if asked is not None:
        world.on_its_way.append(asked)
    return asked is not None


def check_lag(world: ModelWorld, one: int, _other: int) -> bool:
    """A leader proposes an ISR without the followers that are behind for too long."""
    leader = _leader(world, one)
    if leader is None or leader.partition is None:
        return False
    return bool(leader.partition.shrink_isr(world.now))


def _next_proposal(world: ModelWorld, one: int) -> Proposed | None:
    busy = {
        (each.leader.id, each.epoch)
        for each in (
            each.proposed if isinstance(each, Settled) else each for each in world.on_its_way
        )
        if isinstance(each, Proposed)
    }
    found = [proposed_by(each) for each in world.alive if (each.id, each.epoch) not in busy]
    return pick([each for each in found if each is not None], one)


def propose(world: ModelWorld, one: int, _other: int) -> bool:
    """A leader's proposal reaches the controller, and its answer the leader."""
    proposed = _next_proposal(world, one)
    if proposed is not None:
        world.deliver_with_answer(proposed)
    return proposed is not None


def send_proposal(world: ModelWorld, one: int, _other: int) -> bool:
    """A leader sends a proposal."""
    proposed = _next_proposal(world, one)
    if proposed is not None:
        world.on_its_way.append(proposed)
    return proposed is not None


def deliver(world: ModelWorld, one: int, _other: int) -> bool:
    """A message arrives, and the receiver sends its answer."""
    message = pick(world.on_its_way, one)
    if message is None:
        return False
    world.on_its_way.remove(message)
    answer = world.deliver(message)
    if answer is not None:
        world.on_its_way.append(answer)
    return True


def lose(world: ModelWorld, one: int, _other: int) -> bool:
    """A message is lost."""
    message = pick(world.on_its_way, one)
    if message is not None:
        world.on_its_way.remove(message)
    return message is not None


def read_metadata(world: ModelWorld, one: int, other: int) -> bool:
    """A broker reads some new metadata."""
    behind = [each for each in world.alive if each.read < len(world.controller.written)]
    broker = pick(behind, one)
    return broker is not None and broker.read_metadata(world.controller, 1 + other % 3, world.now)


def read_all_metadata(world: ModelWorld, _one: int, _other: int) -> bool:
    """All brokers read all new metadata."""
    reads = [
        each.read_metadata(world.controller, len(world.controller.written), world.now)
        for each in world.alive
    ]
    return any(reads)


def heartbeat(world: ModelWorld, one: int, _other: int) -> bool:
    """A heartbeat arrives."""
    broker = pick([each for each in world.alive if not each.silent], one)
    if broker is not None:
        world.heartbeat(broker)
    return broker is not None


def pass_time(world: ModelWorld, one: int, other: int) -> bool:
    """Some time passes; mostly all brokers send heartbeats before, if they can."""
    if other % 4:
        world.beat()
    world.now = TimeMs(world.now + _MOMENTS_MS[one % len(_MOMENTS_MS)])
    return True


def fence(world: ModelWorld, _one: int, _other: int) -> bool:
    """The controller fences brokers with expired sessions."""
    return world.controller.fence_stale(world.now)


def silence(world: ModelWorld, one: int, _other: int) -> bool:
    """A broker's heartbeats do not arrive any more, or do again."""
    broker = pick(world.alive, one)
    if broker is not None:
        broker.silent = not broker.silent
    return broker is not None


def crash(world: ModelWorld, one: int, _other: int) -> bool:
    """A process is killed; its disk keeps everything."""
    broker = pick(world.alive, one)
    if broker is not None:
        broker.crash(0)
    return broker is not None


def lose_tail(world: ModelWorld, one: int, other: int) -> bool:
    """A machine loses power; unflushed data is lost."""
    broker = pick([each for each in world.alive if each.log.end_offset], one)
    if broker is not None and world.plan.loses_tails:
        broker.crash(1 + other % 3)
        return True
    return False


def start(world: ModelWorld, one: int, _other: int) -> bool:
    """A broker comes back as a new incarnation, if the controller lets it."""
    broker = pick([each for each in world.brokers if each.state is None], one)
    return broker is not None and broker.start(world.controller, world.now)


def shut_down(world: ModelWorld, one: int, _other: int) -> bool:
    """A broker requests a controlled shutdown."""
    broker = pick([each for each in world.alive if not each.wants_shut_down], one)
    if broker is not None:
        broker.wants_shut_down = True
    return broker is not None


def elect_preferred(world: ModelWorld, _one: int, _other: int) -> bool:
    """A client requests an election of the preferred leader."""
    return world.controller.elect(world.now, unclean=False)


def elect_unclean(world: ModelWorld, _one: int, _other: int) -> bool:
    """A client requests an unclean election."""
    return world.plan.asks_unclean and world.controller.elect(world.now, unclean=True)


def look_after_leaders(world: ModelWorld, _one: int, _other: int) -> bool:
    """The controller elects preferred leaders, and unclean ones for partitions without a leader."""
    return world.controller.look_after_leaders(world.now)


def reassign(world: ModelWorld, one: int, other: int) -> bool:
    """A client requests a reassignment of the partition to some of the brokers."""
    ids = [each.id for each in world.brokers]
    first = one % len(ids)
    count = 1 + other % len(ids)
    return world.controller.reassign((ids[first:] + ids[:first])[:count], world.now)


def cancel(world: ModelWorld, _one: int, _other: int) -> bool:
    """A client cancels the reassignment."""
    return world.controller.reassign(None, world.now)


RULES: dict[str, tuple[Rule, int]] = {
    "produce": (produce, 6),
    "produce_all": (produce_all, 8),
    "delete_records": (delete_records, 1),
    "fetch": (fetch, 18),
    "send_fetch": (send_fetch, 6),
    "check_lag": (check_lag, 8),
    "propose": (propose, 6),
    "send_proposal": (send_proposal, 10),
    "deliver": (deliver, 16),
    "lose": (lose, 2),
    "read_metadata": (read_metadata, 8),
    "read_all_metadata": (read_all_metadata, 3),
    "heartbeat": (heartbeat, 3),
    "pass_time": (pass_time, 8),
    "fence": (fence, 3),
    "silence": (silence, 1),
    "crash": (crash, 1),
    "lose_tail": (lose_tail, 1),
    "start": (start, 8),
    "shut_down": (shut_down, 1),
    "elect_preferred": (elect_preferred, 2),
    "elect_unclean": (elect_unclean, 3),
    "look_after_leaders": (look_after_leaders, 2),
    "reassign": (reassign, 1),
    "cancel": (cancel, 1),
}
"""The rules by name, each with its weight."""

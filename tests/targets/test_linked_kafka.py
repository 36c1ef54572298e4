"""Real clusters behind proxies: one link is cut, and the reaction of Kafka is observed."""

from functools import partial
from ipaddress import ip_address
from pathlib import Path

import psutil
import pytest

from harness.base.address import Address
from harness.capture.capture_file import CaptureFile
from harness.client.errors import ResponseTimeout
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest
from harness.proxies.capture import Capture, Sides
from harness.proxies.counters import Counters
from harness.targets.errors import TargetError
from harness.targets.kafka.link_plan import CONTROLLER
from harness.targets.kafka.zookeeper import PIN
from harness.targets.linked import LinkedKafka
from labs.captures.recorded import follow, messages
from tests.targets import kinds
from tests.targets.round_trip import Talk, eventually, round_trip
from tests.targets.watched_partition import WatchedPartition, watched

pytestmark = [pytest.mark.kafka, pytest.mark.deep]

TOPIC = "watched"
DEPOSED_TIMEOUT_MS = 1_000
PATIENT = {
    "zookeeper.session.timeout.ms": "10000",  # the most that our ZooKeeper grants
    "broker.session.timeout.ms": "10000",
    "replica.lag.time.max.ms": "4000",
}
"""Longer than the pauses of a busy machine, so that a session ends only behind a cut link.

ZooKeeper's client gives its connection up after two thirds of the session's time, and then the
leader moves from a broker with uncut links. With 4 s that happened.
"""
NOT_COMMITTED = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    None,  # no answer: ZooKeeper does not answer the broker, which holds a lock meanwhile
}


@pytest.mark.parametrize(
    ("release", "mode"), [("4.4.0", "kraft"), ("3.9.2", "zk"), ("0.10.2.2", "zk")]
)
def test_cut_links_shrink_isr_and_leave_deposed_leader_unaware(
    release: str, mode: str, tmp_path: Path
) -> None:
    kinds.need_kafka(release, *([PIN] if mode == "zk" else []))
    with LinkedKafka(release, mode=mode, settings=PATIENT, log_dir=tmp_path) as target:
        round_trip(target)
        with watched(target, TOPIC) as partition:
            nobody_walks_around_the_proxies(target, partition)
            a_follower_that_cannot_fetch_leaves_the_isr(target, partition)
            a_leader_that_is_deposed_does_not_learn_of_it(target, partition)
        target.links[2, 1].cut()
    with pytest.raises(TargetError, match="only while it runs"):
        _ = target.links


def nobody_walks_around_the_proxies(target: LinkedKafka, partition: WatchedPartition) -> None:
    """A broker opens connections only to its own proxies, and followers do fetch there."""
    leader = partition.await_agreement()
    for node in target.nodes:
        if node != leader:
            fetching = target.links[node, leader].proxy.counters
            eventually(partial(is_open, fetching), f"broker {node} fetches from {leader}")
        reached = opened_by(node)
        assert reached, f"broker {node} has no connection"
        assert {host.rpartition(".")[0] for host in reached} == {f"127.1.{node}"}


def is_open(counters: Counters) -> bool | None:
    return True if counters.open else None


def opened_by(node: int) -> set[str]:
    """The addresses to which the process of a broker has opened connections."""
    reached = set()
    for process in psutil.Process().children(recursive=True):
        if not any(f"/node-{node}/server.properties" in word for word in process.cmdline()):
            continue
        connections = process.net_connections("tcp")
        listening = {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}
        reached |= {
            each.raddr.ip.removeprefix("::ffff:")
            for each in connections
            if each.status == psutil.CONN_ESTABLISHED and each.laddr.port not in listening
        }
    return reached


def a_follower_that_cannot_fetch_leaves_the_isr(
    target: LinkedKafka, partition: WatchedPartition
) -> None:
    """Only the link from the follower to the leader is cut, so only that replica lags."""
    leader = partition.await_agreement()
    follower, other = (node for node in target.nodes if node != leader)
    with_all = set(target.nodes)
    target.links[follower, leader].cut()
    talk = Talk(target)
    talk.write(TOPIC, b"without the follower", target.address_of(leader))
    partition.await_isr(with_all - {follower}, by=leader)
    assert partition.leader_by(other) == leader
    target.links.heal()
    partition.await_isr(with_all, by=leader)
    talk.await_values(TOPIC, [b"without the follower"], target.address_of(follower))


def a_leader_that_is_deposed_does_not_learn_of_it(
    target: LinkedKafka, partition: WatchedPartition
) -> None:
    """A leader loses only its controller or ZooKeeper, so two brokers claim to lead."""
    old = partition.await_agreement()
    witness = next(node for node in target.nodes if node != old)
    coordination = "controller" if target.zookeeper is None else "zookeeper"
    target.links[old, coordination].cut()

    def another() -> int | None:
        leader = partition.leader_by(witness)
        return None if leader == old else leader

    new = eventually(another, "another broker leads")
    # The new leader learns it last; until then it sends clients, and so our write, to the old one.
    eventually(lambda: partition.leader_by(new) == new or None, "the new leader says so itself")
    assert partition.leader_by(old) == old, "the old leader was told"
    talk = Talk(target)
    talk.write(TOPIC, b"to the new leader", target.address_of(new))
    assert to_the_deposed(talk, target, old) in NOT_COMMITTED
    assert partition.leader_by(old) == old
    assert partition.leader_by(witness) != old
    target.links.heal()
    eventually(lambda: partition.leader_by(old) not in (old, None) or None, "it learns of it")
    partition.await_agreement()
    kept = [b"without the follower", b"to the new leader"]
    for node in target.nodes:
        talk.await_values(TOPIC, kept, target.address_of(node))


def to_the_deposed(talk: Talk, target: LinkedKafka, old: int) -> ErrorCode | None:
    """The old leader's answer to a client; None without one."""
    address = target.address_of(old)
    try:
        return talk.append(TOPIC, b"to the old leader", address, DEPOSED_TIMEOUT_MS)
    except ResponseTimeout:
        return None


def test_capture_of_cluster_contains_link_names(tmp_path: Path) -> None:
    """The capture shows the replication twice: in the followers' frames and in the links."""
    kinds.need_kafka()
    file = tmp_path / "cluster.pcapng"
    with Capture(file, sides=Sides.CLIENT) as capture:
        with LinkedKafka(kinds.KAFKA, settings=PATIENT, log_dir=tmp_path, tap=capture) as target:
            round_trip(target)
            (leader,) = (str(target.nodes[target.addresses.index(at)]) for at in led_at(target))
            listens = {str(link): link.proxy.listen for link in target.links.values()}
            nodes = [str(node) for node in target.nodes]
    events, _ = follow(tuple(CaptureFile(str(file))))
    fetched: dict[str, set[int]] = {}
    for event in messages(events):
        link, server = event.connection.interface, event.connection.server
        assert listens[link] == (str(ip_address(server.address)), server.port)
        if isinstance(event.message, FetchRequest):  # up to version 14 it stood elsewhere
            replica = max(event.message.replica_id, event.message.replica_state.replica_id)
            fetched.setdefault(link, set()).add(replica)
    followers = [node for node in nodes if node != leader]
    for reader, of in [*((node, leader) for node in followers), *((n, CONTROLLER) for n in nodes)]:
        assert fetched[f"{reader}->{of}"] == {int(reader)}
    assert fetched[f"client->{leader}"] == {-1}


def led_at(target: LinkedKafka) -> set[Address]:
    """The leaders of the topic of :func:`round_trip`, as all brokers name them."""
    talk = Talk(target)
    found = {talk.leader_of("round-trip", address) for address in target.addresses}
    return {address for address in found if address is not None}

"""ISR, ALTP: a proposal that the controller refuses, and the brokers that proposals name."""

from __future__ import annotations

from functools import partial

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.faults import requests, ruled
from harness.runner.marks import judges
from harness.virtual_broker.cluster import KRAFT_CONTROLLER
from suites.protocol.support.appended import batch_of
from suites.replication.support.cutting import (
    committed_isr,
    controller_of,
    linked_cluster,
    plain_brokers,
)

API, FIRST_WITH_IDS, FIRST_WITH_EPOCHS = "AlterPartition", "2+", "3+"
REFUSED, SENT, UNNAMED = "refused", "sent", "unnamed"
EPOCHS = "topics[*].partitions[*].new_isr_with_epochs[*].broker_epoch"


def _follower_left(cluster: Cluster) -> tuple[Topic, int, int, int]:
    """Return a topic, its leader, a follower that is cut off and out of the ISR, and a third."""
    if cluster.registry is not None:
        raise NotApplicable(KRAFT_CONTROLLER, "a leader with a ZooKeeper sends no broker epochs")
    leader, follower, third = plain_brokers(cluster)
    topic = cluster.create_topic([[leader, follower, third]])
    cluster.links[follower, leader].cut()
    code = cluster.at(leader).produce(topic, batch_of(b"r"), acks=1).error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"Produce: {ErrorCode.describe(code)}")
    isr = partial(committed_isr, cluster, topic, third)
    cluster.await_that(isr, lambda seen: seen == {leader, third}, f"{follower} leaves the ISR")
    return topic, leader, follower, third


def _expect_whole(cluster: Cluster, topic: Topic, witness: int, wanted: set[int]) -> None:
    isr = cluster.last_seen(
        partial(committed_isr, cluster, topic, witness), lambda seen: seen == wanted
    )
    assert isr == wanted, f"the follower fetches again, and the ISR is {sorted(isr)}"


@judges("ISR-013")
@linked_cluster()
def test_leader_proposes_again_after_refused_alter_partition(cluster: Cluster) -> None:
    """The first proposal to add the follower is answered with INELIGIBLE_REPLICA."""
    topic, leader, follower, third = _follower_left(cluster)
    part = {"partition_index": 0, "error_code": int(ErrorCode.INELIGIBLE_REPLICA)}
    answer = {"topics": [{"topic_id": str(topic.id), "partitions": [part]}]}
    refuse = requests(API).version(FIRST_WITH_IDS).first().named(REFUSED).answer(answer)
    with ruled(cluster.links[leader, controller_of(cluster)], refuse) as at_work:
        cluster.links.heal()
        cluster.await_that(lambda: at_work.fired(REFUSED), what="a proposal is refused")
        with requirement("ISR-013"):
            _expect_whole(cluster, topic, third, {leader, follower, third})


@judges("ALTP-016")
@linked_cluster()
def test_leader_names_broker_epochs_of_proposed_isr(cluster: Cluster) -> None:
    """Of a follower that comes back, of one that has always been there, and its own."""
    topic, leader, follower, third = _follower_left(cluster)
    proposals = requests(API).version(FIRST_WITH_EPOCHS)
    with ruled(
        cluster.links[leader, controller_of(cluster)],
        proposals.named(SENT).watch(),
        proposals.field(EPOCHS, {"at_most": -1}).named(UNNAMED).watch(),
    ) as at_work:
        cluster.links.heal()
        with requirement("ALTP-016"):
            _expect_whole(cluster, topic, third, {leader, follower, third})
            assert at_work.fired(SENT), f"no {API} {FIRST_WITH_EPOCHS} adds the follower"
            unnamed = at_work.fired(UNNAMED)
            assert not unnamed, f"{unnamed} proposals have a member without its broker epoch"

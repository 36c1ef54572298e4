"""The secured built-in cluster behind proxies: TLS ends at each link, rules and cuts strike it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from harness.proxies.rules import RuleSet, requests
from harness.security.settings import Mechanism, SecurityProtocol
from harness.targets.linked_reference import LinkedReference
from harness.targets.run_security import WantedSecurity
from tests.targets.round_trip import Talk, eventually
from tests.targets.test_linked_reference import PATIENT, TOPIC
from tests.targets.watched_partition import WatchedPartition, watched

pytestmark = pytest.mark.rotates(8)

WAYS = {
    "sasl_ssl": WantedSecurity(SecurityProtocol.SASL_SSL, Mechanism.SCRAM_SHA_256),
    "certificates": WantedSecurity(SecurityProtocol.SSL, authorizer=True),
    "sasl_plaintext": WantedSecurity(SecurityProtocol.SASL_PLAINTEXT, Mechanism.PLAIN),
}


@pytest.fixture(scope="module", params=list(WAYS))
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LinkedReference]:
    folder = tmp_path_factory.mktemp("linked")
    security = WAYS[request.param]
    with LinkedReference(3, log_dir=folder, settings=PATIENT, security=security) as made:
        yield made


@pytest.fixture(scope="module")
def partition(target: LinkedReference) -> Iterator[WatchedPartition]:
    with watched(target, TOPIC) as found:
        yield found


def test_a_cut_link_removes_one_follower_from_the_isr(
    target: LinkedReference, partition: WatchedPartition
) -> None:
    leader = partition.await_agreement()
    follower, other = (node for node in target.nodes if node != leader)
    target.links[follower, leader].cut()
    Talk(target).write(TOPIC, b"without the follower", target.address_of(leader))
    partition.await_isr({leader, other}, by=leader)
    target.links.heal()
    partition.await_isr(set(target.nodes), by=leader)


def test_a_rule_strikes_the_fetches_of_a_follower(
    target: LinkedReference, partition: WatchedPartition
) -> None:
    leader = partition.await_agreement()
    follower = next(node for node in target.nodes if node != leader)
    proxy = target.links[follower, leader].proxy
    rules = proxy.interceptor
    assert isinstance(rules, RuleSet)
    closing = requests("Fetch").replica_id(follower).first(2).named("closing").close("before")
    target.links.run(partial(rules.arm, closing))
    eventually(lambda: rules.counts("closing").fired == 2 or None, "two fetches are lost")
    target.links.run(rules.disarm)
    Talk(target).write(TOPIC, b"behind the rule", target.address_of(leader))
    partition.await_isr(set(target.nodes), by=partition.await_agreement())
    assert not proxy.errors

"""Judgement of a broker by the specification, across restarts of both.

The tests of ``suites/durability`` get the fixture ``restarted_judge``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from zlib import crc32

import pytest

from harness.base.address import Address
from harness.base.own_names import case_prefix, new_nonce
from harness.client.placeholder_versions import served_ranges
from harness.codec.versions import VersionRange
from harness.conformance.checks import Inconclusive, NotApplicable, requirement
from harness.differential.generator import Ranges, shared_versions
from harness.differential.player import Player, answer_limit_ms
from harness.oracle.kept_specification import KeptSpecification
from harness.oracle.likeness import CAPABILITY, Likeness, likeness_of
from harness.oracle.read_settings import identity_of
from harness.oracle.restart_requests import parted_conversations
from harness.oracle.restarted import (
    CLIENT_ID,
    RestartedConversations,
    RestartedSide,
    text_of_restart,
)
from harness.runner.broker_request import request_of
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.running_case import CASE
from harness.runner.specification import seed_text
from harness.targets.asking import ask_api_versions
from harness.targets.info import TargetInfo

CONVERSATIONS = 10
"""With each broker; all of them have their restarts at the same time."""


@dataclass(frozen=True, slots=True)
class RestartedJudge:
    """The judge of a broker that is restarted.

    Attributes:
        conversations: with the specification and the broker under test.
        shared: the APIs and versions that both serve.
        like: the release of the specification, empty for the newest.
        seed: what the requests are drawn by.
    """

    conversations: RestartedConversations
    shared: Ranges
    like: str
    seed: str

    def across_restarts(self, requirement_id: str) -> None:
        """Check the requirement: the responses after restarts are those of the specification."""
        seed = crc32(f"{self.seed} restarts".encode())
        drawn = parted_conversations(seed, self.shared, CONVERSATIONS, self.like)
        with requirement(requirement_id):
            found = self.conversations.first_difference(drawn)
            if found is None:
                return
            text = text_of_restart(found, self.conversations.specs)
            if not found.is_after_restart:
                raise Inconclusive(f"a response differs before the first restart: {text}")
            if not found.repeats:
                raise Inconclusive(f"a difference that did not occur again: {text}")
            raise AssertionError(text)


@contextmanager
def _beside(
    kept: KeptSpecification, broker: PersistentBroker, likeness: Likeness, info: TargetInfo
) -> Iterator[tuple[RestartedConversations, Ranges]]:
    # Of its own: a player deletes every topic that begins with it.
    prefix = case_prefix(info.name_prefix, new_nonce(), "restarts")
    timeout_ms = answer_limit_ms(info.time_scale)
    pairs = ask_api_versions(kept.address, int(timeout_ms))
    right = served_ranges({key: VersionRange(*pair) for key, pair in pairs.items()})
    target = served_ranges(broker.client.api_versions)
    address = Address(*broker.client.address)
    sides = (
        RestartedSide(Player(kept.spec, kept.address, right, timeout_ms, prefix, CLIENT_ID), kept),
        RestartedSide(
            Player(likeness.compared_as, address, target, timeout_ms, prefix, CLIENT_ID), broker
        ),
    )
    with RestartedConversations(sides, prefix) as made:
        yield made, shared_versions(target, right)


@pytest.fixture
def restart_likeness(request: pytest.FixtureRequest) -> Likeness:
    """The release that the specification is like; not_applicable without one."""
    info = request.node.stash[CASE].context.info
    if info.zookeeper is not None:
        raise NotApplicable(CAPABILITY, "restarts are compared without a ZooKeeper alone")
    return likeness_of(info)


@pytest.fixture
def restarted_judge(
    request: pytest.FixtureRequest, restart_likeness: Likeness, persistent_broker: PersistentBroker
) -> Iterator[RestartedJudge]:
    """The judge by conversations that go on after restarts."""
    info = request.node.stash[CASE].context.info
    settings = {**request_of(request.node).settings, **identity_of(persistent_broker.client)}
    with (
        KeptSpecification(restart_likeness.like, settings) as kept,
        _beside(kept, persistent_broker, restart_likeness, info) as (conversations, shared),
    ):
        yield RestartedJudge(
            conversations, shared, restart_likeness.like, seed_text(request.config)
        )

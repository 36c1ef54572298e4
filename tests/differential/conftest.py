"""Two reference brokers, and players at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from harness.client.connection import Address
from harness.codec.versions import VersionRange
from harness.differential.comparison import ConversationComparison
from harness.differential.generator import Ranges, shared_versions
from harness.differential.player import Player
from harness.proxies import FrameRule
from harness.proxies.relay import RunningRelay
from harness.targets.info import probe
from harness.targets.reference import ReferenceBroker

TIMEOUT_MS = 20_000
PREFIX = "kc-"


@dataclass(frozen=True)
class Pair:
    """Two brokers that are alike, and what both serve."""

    addresses: tuple[Address, Address]
    advertised: Mapping[int, VersionRange]

    @property
    def shared(self) -> Ranges:
        return shared_versions(self.advertised, self.advertised)


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    logs = tmp_path_factory.mktemp("logs")
    with ReferenceBroker(log_dir=logs) as one, ReferenceBroker(log_dir=logs) as other:
        ranges = probe(one).api_versions
        advertised = {key: VersionRange(*pair) for key, pair in ranges.items()}
        yield Pair((one.addresses[0], other.addresses[0]), advertised)


@pytest.fixture
def compared(pair: Pair) -> Iterator[Callable[[FrameRule | None], ConversationComparison]]:
    """A comparison of the two; with a rule the second stands behind it."""
    with ExitStack() as stack:

        def make(rule: FrameRule | None = None) -> ConversationComparison:
            one, other = pair.addresses
            if rule is not None:
                other = stack.enter_context(RunningRelay(other, rule)).address
            players = [
                stack.enter_context(Player(spec, at, pair.advertised, TIMEOUT_MS, PREFIX + spec))
                for spec, at in (("one", one), ("other", other))
            ]
            comparison = ConversationComparison((players[0], players[1]), PREFIX)
            stack.callback(comparison.close)
            return comparison

        yield make

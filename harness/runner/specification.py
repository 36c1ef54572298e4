"""Judgement of the broker under test by the specification and by recorded responses.

The tests of ``suites/protocol/specification`` get the fixture ``judge``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from zlib import crc32

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.placeholder_versions import served_ranges
from harness.codec.apis import api_named
from harness.conformance.catalogue import load_catalogue
from harness.conformance.checks import Inconclusive, NotSupported, broken_meanwhile, requirement
from harness.conformance.dated import APACHE_KAFKA
from harness.differential.player import answer_limit_ms
from harness.oracle.api_differences import ApiDifferences
from harness.oracle.difference_text import text_of
from harness.oracle.likeness import RELEASES, likeness_of
from harness.oracle.own_objects import without_shared
from harness.oracle.read_settings import NODE_ID, identity_of, read_settings
from harness.oracle.recorded import recorded_releases
from harness.oracle.replayed import ReplayedConversations
from harness.oracle.seeded import SeededConversations
from harness.oracle.specification import Specification
from harness.oracle.subjects import REQUIREMENTS
from harness.runner.running_case import CASE
from harness.targets.info import TargetInfo
from harness.targets.reference import QUICK

EXCHANGES = 150
"""Of seeded conversations for each API, and the rest of a conversation that is begun."""
RECORDED_EXCHANGES = 200
"""The same of recorded conversations."""


RECORDED_IDENTITY = {NODE_ID: "1"}
"""Of the broker of the recorded conversations: its responses contain the id."""


class SharedSpecification:
    """One specification for all tests of a file, as long as their broker lives. Use as a context
    manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._address: tuple[str, int] | None = None
        self._seeded: SeededConversations | None = None
        self._replayed: ReplayedConversations | None = None

    def __enter__(self) -> SharedSpecification:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def turn_to(self, broker: BrokerUnderTest) -> None:
        """Begin anew if this is the replacement of a broker that died."""
        if broker.address != self._address:
            with suppress(BrokerMisbehaved):  # the dead broker cannot be cleaned
                self._stack.close()
            self._seeded = self._replayed = None
            self._address = broker.address

    def beside(self, broker: BrokerUnderTest, info: TargetInfo) -> SeededConversations:
        """Return the conversations with this broker. Raises NotApplicable."""
        if self._seeded is None:
            likeness = likeness_of(info)
            elsewhere = likeness.is_elsewhere
            settings = read_settings(broker) if elsewhere else {**QUICK, **identity_of(broker)}
            self._seeded = self._stack.enter_context(
                SeededConversations(
                    info.spec,
                    Address(*broker.address),
                    served_ranges(broker.api_versions),
                    Specification(likeness.like, settings),
                    info.name_prefix,
                    answer_limit_ms(info.time_scale),
                    compared_as=likeness.compared_as,
                    chosen=without_shared if elsewhere else iter,
                )
            )
        return self._seeded

    def recorded(self, broker: BrokerUnderTest, info: TargetInfo) -> ReplayedConversations | None:
        """Return the recorded conversations with this broker; None if no release is recorded that
        the broker is to be like, or if it has other settings or another id. Raises NotApplicable.
        """
        likeness = likeness_of(info)
        release = likeness.like or RELEASES[-1]
        is_like_recorded = identity_of(broker) == RECORDED_IDENTITY and not likeness.is_elsewhere
        if not is_like_recorded or release not in recorded_releases():
            return None
        if self._replayed is None:
            self._replayed = self._stack.enter_context(
                ReplayedConversations(
                    release,
                    info.spec,
                    Address(*broker.address),
                    served_ranges(broker.api_versions),
                    info.name_prefix,
                    answer_limit_ms(info.time_scale),
                    is_kafka=info.implementation == APACHE_KAFKA,
                )
            )
        return self._replayed


@dataclass(frozen=True, slots=True)
class SpecificationJudge:
    """The judge of the broker under test by the conversations of other brokers.

    Attributes:
        seeded: conversations with the broker under test and the specification.
        replayed: conversations that an Apache Kafka had; None without.
        seed: what the seeded conversations are drawn by, beside the API.
    """

    seeded: SeededConversations
    replayed: ReplayedConversations | None
    seed: str

    def conversations(self, api: str) -> None:
        """Check the requirement for an API: the responses are those of the specification.

        The recorded conversations are played first: their responses are of a real Kafka, and hold
        also where the broker under test and the specification have the same mistake. A difference
        in the response of a companion breaks the requirement for that API instead; the API itself
        is judged if its responses were compared at every version.
        """
        if api not in self.seeded.shared:
            raise NotSupported(f"{api}: no version is served by both")
        seed = crc32(f"{self.seed} {api}".encode())
        others: dict[str, str] = {}
        with requirement(REQUIREMENTS[api], api_key=api_named(api).key):
            if self.replayed is not None:
                recorded = self.replayed.differences(api, RECORDED_EXCHANGES)
                _refuse_own(recorded, self.replayed.specs)
                others |= _of_companions(recorded, self.replayed.specs)
            seeded = self.seeded.differences(api, seed, EXCHANGES)
            _refuse_own(seeded, self.seeded.specs)
            others |= _of_companions(seeded, self.seeded.specs)
            missing = set(self.seeded.shared[api]) - seeded.compared
            if others and missing:
                _break(others)
                names, versions = ", ".join(others), ", ".join(map(str, sorted(missing)))
                raise Inconclusive(
                    f"responses of {names} differ before; not compared are versions {versions}"
                )
        _break(others)


def _refuse_own(found: ApiDifferences, specs: Sequence[str]) -> None:
    """Raises AssertionError, or Inconclusive for a difference that did not occur again."""
    if found.own is None:
        return
    text = text_of(found.own, specs)
    if not found.own.repeats:
        raise Inconclusive(f"a difference that did not occur again: {text}")
    raise AssertionError(text)


def _of_companions(found: ApiDifferences, specs: Sequence[str]) -> dict[str, str]:
    """Return the first difference of each companion, as text."""
    told: dict[str, str] = {}
    for one in found.of_companions:
        if one.repeats:
            told.setdefault(one.difference.api, text_of(one, specs))
    return told


def _break(others: Mapping[str, str]) -> None:
    for api, text in others.items():
        broken_meanwhile(REQUIREMENTS[api], text)


def seed_text(config: pytest.Config) -> str:
    """Return what the conversations are drawn by: the catalogue's version, or the option."""
    chosen = config.getoption("oracle_seed")
    return load_catalogue().version if chosen is None else str(chosen)


@pytest.fixture(scope="module")
def specification() -> Iterator[SharedSpecification]:
    """The specification, started by the first test that needs it."""
    with SharedSpecification() as shared:
        yield shared


@pytest.fixture
def judge(
    request: pytest.FixtureRequest, broker: BrokerUnderTest, specification: SharedSpecification
) -> SpecificationJudge:
    """The judge by seeded conversations with the broker under test."""
    context = request.node.stash[CASE].context
    specification.turn_to(broker)
    seeded = specification.beside(broker, context.info)
    recorded = specification.recorded(broker, context.info)
    return SpecificationJudge(seeded, recorded, seed_text(request.config))

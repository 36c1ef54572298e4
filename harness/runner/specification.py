"""Judgement of the broker under test by seeded conversations with the specification.

The tests of ``suites/protocol/specification`` get the fixture ``judge``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from zlib import crc32

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.placeholder_versions import served_ranges
from harness.codec.apis import api_named
from harness.conformance.catalogue import load_catalogue
from harness.conformance.checks import Inconclusive, NotSupported, broken_meanwhile, requirement
from harness.differential.comparison import FoundDifference
from harness.differential.player import answer_limit_ms
from harness.oracle.likeness import likeness_of
from harness.oracle.seeded import SeededConversations, text_of
from harness.oracle.specification import Specification
from harness.oracle.subjects import REQUIREMENTS
from harness.runner.running_case import CASE
from harness.targets.info import TargetInfo
from harness.targets.reference import QUICK

EXCHANGES = 150
"""For each API, and the rest of a conversation that is begun."""


class SharedSpecification:
    """One specification for all tests of a file. Use as a context manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._made: SeededConversations | None = None

    def __enter__(self) -> SharedSpecification:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def beside(self, broker: BrokerUnderTest, info: TargetInfo) -> SeededConversations:
        """Return the conversations with this broker. Raises NotApplicable."""
        if self._made is None:
            specification = Specification(likeness_of(info), QUICK)
            self._made = self._stack.enter_context(
                SeededConversations(
                    info.spec,
                    Address(*broker.address),
                    served_ranges(broker.api_versions),
                    specification,
                    info.name_prefix,
                    answer_limit_ms(info.time_scale),
                )
            )
        return self._made


@dataclass(frozen=True, slots=True)
class SpecificationJudge:
    """The judge of the broker under test by seeded conversations.

    Attributes:
        seeded: with the broker under test and the specification.
        seed: what the conversations are drawn by, beside the API.
    """

    seeded: SeededConversations
    seed: str

    def conversations(self, api: str) -> None:
        """Check the requirement for an API: the responses are those of the specification.

        A difference in the response of a companion breaks the requirement for that API instead.
        """
        if api not in self.seeded.shared:
            raise NotSupported(f"{api}: no version is served by both")
        seed = crc32(f"{self.seed} {api}".encode())
        with requirement(REQUIREMENTS[api], api_key=api_named(api).key):
            found = self.seeded.first_difference(api, seed, EXCHANGES)
            if found is not None:
                _refuse(found, api, text_of(found, self.seeded.specs))


def _refuse(found: FoundDifference, api: str, text: str) -> None:
    """Raises AssertionError, or Inconclusive where the difference does not judge this API."""
    if not found.repeats:
        raise Inconclusive(f"a difference that did not occur again: {text}")
    if found.difference.api == api:
        raise AssertionError(text)
    broken_meanwhile(REQUIREMENTS[found.difference.api], text)
    raise Inconclusive(f"the response of {found.difference.api} differs before")


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
    chosen = request.config.getoption("oracle_seed")
    seed = load_catalogue().version if chosen is None else str(chosen)
    return SpecificationJudge(specification.beside(broker, context.info), seed)

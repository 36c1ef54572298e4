"""Judgement of null and empty fields in responses, by the table of what Apache Kafka sends.

The tests of ``suites/protocol/encoding/test_nullable_fields.py`` get the fixture ``null_judge``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.codec.apis import api_named
from harness.conformance.checks import Inconclusive, NotSupported, requirement
from harness.conformance.harmless_requests import Safety
from harness.differential.conversation import ConversationStep
from harness.oracle.likeness import is_elsewhere
from harness.oracle.null_forms import apis_with_nullable_fields, forms_in
from harness.oracle.null_play import NullConversations
from harness.oracle.null_table import NullRow, Place, problem_of, table_for
from harness.oracle.own_objects import without_shared
from harness.runner.running_case import CASE
from harness.sweep.requests import safety_of
from harness.targets.info import TargetInfo

REQUIREMENT = "ENC-015"
EXCHANGES = 30
"""Drawn requests for each API, and the rest of a conversation that is begun."""
NULLABLE_APIS = tuple(
    name for name in apis_with_nullable_fields() if safety_of(name) is not Safety.DESTRUCTIVE
)
"""APIs with nullable fields in their responses that a shared broker may get requests of."""
_CREATE_TOPICS = api_named("CreateTopics").key


class SharedConversations:
    """The conversations of all tests of a file, as long as their broker lives. Use as a context
    manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._address: tuple[str, int] | None = None
        self._conversations: NullConversations | None = None

    def __enter__(self) -> SharedConversations:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def with_broker(self, broker: BrokerUnderTest, info: TargetInfo) -> NullConversations:
        """Return those with this broker; new ones if it replaces a broker that died.

        Raises NotApplicable if a broker at a given address may not get them.
        """
        if self._conversations is None or broker.address != self._address:
            with suppress(BrokerMisbehaved):  # the dead broker cannot be cleaned
                self._stack.close()
            self._address = broker.address
            chosen = without_shared if is_elsewhere(info) else iter
            address, node = Address(*broker.address), broker.own_id()
            made = NullConversations(info, address, node, REQUIREMENT, chosen=chosen)
            self._conversations = self._stack.enter_context(made)
        return self._conversations


@dataclass(frozen=True, slots=True)
class NullJudge:
    """The judge of the broker under test. ``table``: the rows that it is compared with."""

    conversations: NullConversations
    table: Mapping[Place, NullRow]

    def judge(self, api: str) -> None:
        """Check that responses of an API have null and empty fields as Apache Kafka sends them."""
        served = self.conversations.served
        if api not in served:
            raise NotSupported(f"{api}: no version is served by both")
        with requirement(REQUIREMENT, api_key=api_named(api).key):
            problems: dict[str, set[int]] = {}
            answered: set[int] = set()
            for step, response in self.conversations.responses(api, EXCHANGES):
                if step.api == api:
                    answered.add(step.version)
                    for text in self._problems(step, response):
                        problems.setdefault(text, set()).add(step.version)
            assert not problems, _text(api, problems)
            missing = set(served[api]) - answered
            if missing:
                raise Inconclusive(f"{api}: no response at versions {_listed(missing)}")

    def _problems(self, step: ConversationStep, response: Mapping[str, Any]) -> Iterator[str]:
        for field, beside, form in forms_in(step, response):
            problem = problem_of(self.table.get((step.api, field, beside)), form)
            if problem is not None:
                yield f"{field}, beside {beside}, {problem}"


def _text(api: str, problems: Mapping[str, set[int]]) -> str:
    return "; ".join(f"{api} v{_listed(found)}: {text}" for text, found in problems.items())


def _listed(versions: set[int]) -> str:
    return ", ".join(str(version) for version in sorted(versions))


@pytest.fixture(scope="module")
def shared_conversations() -> Iterator[SharedConversations]:
    """The conversations, begun by the first test that needs them."""
    with SharedConversations() as shared:
        yield shared


@pytest.fixture
def null_judge(
    request: pytest.FixtureRequest,
    broker: BrokerUnderTest,
    shared_conversations: SharedConversations,
) -> NullJudge:
    """The judge of null and empty fields at the broker under test."""
    if _CREATE_TOPICS not in broker.api_versions:
        raise NotSupported("the conversations make topics, and CreateTopics is not advertised")
    info = request.node.stash[CASE].context.info
    return NullJudge(shared_conversations.with_broker(broker, info), table_for(info))

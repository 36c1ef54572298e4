"""Conversations about one API with a target and the specification, in step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from harness.base.address import Address
from harness.base.own_names import case_prefix, new_nonce
from harness.codec.versions import VersionRange
from harness.differential.comparison import ConversationComparison, FoundDifference
from harness.differential.generator import Ranges, conversations, shared_versions
from harness.differential.player import Player
from harness.oracle.specification import Specification
from harness.oracle.subjects import companions_of
from harness.targets.asking import ask_api_versions

SHRINKING_PLAYS = 60
"""At most so many plays of a conversation to make it smaller: a slow broker needs seconds each."""

LEAST_UNREPEATED = 3


class SeededConversations:
    """A target beside its specification. Use as a context manager.

    Attributes:
        specs: of the specification and of the target.
        shared: the APIs and versions that both serve and that change nothing of other clients.
    """

    def __init__(
        self,
        spec: str,
        address: Address,
        advertised: Mapping[int, VersionRange],
        specification: Specification,
        name_prefix: str,
        timeout_ms: float,
    ) -> None:
        self.specs = specification.spec, spec
        self._target = spec, address, advertised
        self._specification = specification
        # Of its own: a player deletes every topic that begins with it.
        self._prefix = case_prefix(name_prefix, new_nonce(), "specification")
        self._timeout_ms = timeout_ms
        self._stack = ExitStack()
        self._comparison: ConversationComparison | None = None
        self.shared: Ranges = {}

    def __enter__(self) -> SeededConversations:
        right = self._stack.enter_context(self._specification)
        spec, address, advertised = self._target
        pairs = ask_api_versions(right.address, int(self._timeout_ms))
        served = {key: VersionRange(*pair) for key, pair in pairs.items()}
        self.shared = shared_versions(advertised, served)
        one, other = [
            self._stack.enter_context(Player(each, at, ranges, self._timeout_ms, self._prefix))
            for each, at, ranges in (
                (right.spec, right.address, served), (spec, address, advertised),
            )
        ]  # fmt: skip
        made = ConversationComparison((one, other), self._prefix, plays=SHRINKING_PLAYS)
        self._comparison = made
        self._stack.callback(made.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def first_difference(self, api: str, seed: int, exchanges: int) -> FoundDifference | None:
        """Return the first difference in conversations about an API, shrunk; None without one.

        ``exchanges``: so many are compared, and the rest of the conversation that is begun. A
        difference that does not occur again counts from the :data:`LEAST_UNREPEATED`-th on: one
        may come from other traffic at the broker.
        """
        unrepeated = 0
        assert self._comparison is not None, "use as a context manager"
        for player in self._comparison.players:
            player.client_id = client_id_of(api)
        only = [api, *companions_of(api)]
        counted = self._comparison.counted.exchanges
        most = counted.total() + exchanges
        for conversation in conversations(seed, self.shared, only, about=api):
            self._comparison.forget_kinds()
            found = self._comparison.compare(conversation)
            unrepeated += found is not None and not found.repeats
            if found is not None and (found.repeats or unrepeated >= LEAST_UNREPEATED):
                return found
            if counted.total() >= most:
                return None
        raise AssertionError("conversations do not end")


def client_id_of(api: str) -> str:
    """Return the client id of conversations about an API."""
    return f"specification-{api}"


def text_of(found: FoundDifference, specs: Sequence[str]) -> str:
    """Return a difference with the conversation that shows it."""
    one = found.difference
    values = ", ".join(
        f"{spec} {json.dumps(value)}" for spec, value in zip(specs, one.values, strict=True)
    )
    steps = [f"  {place}  {step}" for place, step in enumerate(found.conversation.steps)]
    return "\n".join([f"{one.api} v{one.version}, step {one.step}: {one.path}: {values}", *steps])

"""Conversations about one API with a target and the specification, in step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

from harness.base.address import Address
from harness.base.own_names import case_prefix, new_nonce
from harness.client.placeholder_versions import served_ranges
from harness.codec.versions import VersionRange
from harness.differential.comparison import ConversationComparison
from harness.differential.conversation import Conversation
from harness.differential.generator import Ranges, conversations, shared_versions
from harness.differential.player import Player
from harness.oracle.api_differences import ApiDifferences, api_differences
from harness.oracle.specification import Specification
from harness.oracle.subjects import client_id_of, companions_of
from harness.targets.asking import ask_api_versions

SHRINKING_PLAYS = 60
"""At most so many plays of a conversation to make it smaller: a slow broker needs seconds each."""
Chosen = Callable[[Iterator[Conversation]], Iterator[Conversation]]


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
        *,
        compared_as: str = "",
        chosen: Chosen = iter,
    ) -> None:
        """``compared_as``: the spec for the explained differences, if it is another one.
        ``chosen``: returns the conversations that the target may get.
        """
        self.specs = specification.spec, spec
        self._target = compared_as or spec, address, advertised
        self._specification, self._chosen = specification, chosen
        # Of its own: a player deletes every topic that begins with it.
        self._prefix = case_prefix(name_prefix, new_nonce(), "specification")
        self._timeout_ms = timeout_ms
        self._stack = ExitStack()
        self._comparison: ConversationComparison | None = None
        self._players: tuple[Player, ...] = ()
        self.shared: Ranges = {}

    def __enter__(self) -> SeededConversations:
        right = self._stack.enter_context(self._specification)
        spec, address, advertised = self._target
        pairs = ask_api_versions(right.address, int(self._timeout_ms))
        served = served_ranges({key: VersionRange(*pair) for key, pair in pairs.items()})
        self.shared = shared_versions(advertised, served)
        one, other = self._players = tuple(
            self._stack.enter_context(Player(each, at, ranges, self._timeout_ms, self._prefix))
            for each, at, ranges in (
                (right.spec, right.address, served), (spec, address, advertised),
            )
        )  # fmt: skip
        made = ConversationComparison((one, other), self._prefix, plays=SHRINKING_PLAYS)
        self._comparison = made
        self._stack.callback(made.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def differences(self, api: str, seed: int, exchanges: int) -> ApiDifferences:
        """Return the differences in conversations about an API, shrunk.

        ``exchanges``: so many are compared, and the rest of the conversation that is begun.
        """
        assert self._comparison is not None, "use as a context manager"
        for player in self._players:
            player.client_id = client_id_of(api)
        only = [api, *companions_of(api)]
        made = self._chosen(conversations(seed, self.shared, only, about=api))
        return api_differences(self._comparison, api, made, exchanges)

"""Recorded conversations with a target, compared with the recorded responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from harness.base.address import Address
from harness.base.own_names import case_prefix, new_nonce
from harness.codec.versions import VersionRange
from harness.differential.comparison import ConversationComparison
from harness.differential.conversation import Conversation
from harness.differential.player import Player
from harness.oracle.api_differences import ApiDifferences, api_differences
from harness.oracle.recorded import RecordedBroker, recorded_of
from harness.oracle.specification import SPECIFICATION
from harness.oracle.subjects import client_id_of

NO_PLAYS = 0
"""Without its earlier steps a conversation has other responses, which the file lacks."""


class ReplayedConversations:
    """A target beside the responses of a release. Use as a context manager.

    Attributes:
        specs: of the recorded broker and of the target.
    """

    def __init__(
        self,
        release: str,
        spec: str,
        address: Address,
        served: Mapping[int, VersionRange],
        name_prefix: str,
        timeout_ms: float,
        *,
        is_kafka: bool = False,
    ) -> None:
        """``is_kafka``: the target is an Apache Kafka, and may have the faults of Kafka. Another
        product is right where it responds as the built-in broker does.
        """
        self.specs = f"kafka:{release}", spec
        compared_as = self.specs[0] if is_kafka else f"{SPECIFICATION},like={release}"
        self._release, self._served = release, served
        prefix = case_prefix(name_prefix, new_nonce(), "recorded")
        self._player = Player(compared_as, address, served, timeout_ms, prefix)
        self._recorded = RecordedBroker(self.specs[0])
        sides = self._recorded, self._player
        self._comparison = ConversationComparison(sides, prefix, plays=NO_PLAYS)
        self._stack = ExitStack()

    def __enter__(self) -> ReplayedConversations:
        self._stack.enter_context(self._player)
        self._stack.callback(self._comparison.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def differences(self, api: str, exchanges: int) -> ApiDifferences:
        """Return the differences in the conversations about an API."""
        self._player.client_id = client_id_of(api)
        return api_differences(self._comparison, api, self._conversations(api), exchanges)

    def _conversations(self, api: str) -> Iterator[Conversation]:
        for one in recorded_of(self._release).get(api, ()):
            part = one.served_part(self._served)
            if part is not None:
                yield self._recorded.learn(part)

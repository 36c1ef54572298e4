"""Conversations about nullable fields with one broker."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from harness.base.address import Address
from harness.base.own_names import case_prefix, new_nonce
from harness.client.placeholder_versions import served_ranges
from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.differential.generator import shared_versions
from harness.differential.player import Player, answer_limit_ms
from harness.oracle.null_states import conversations_about
from harness.oracle.seeded import Chosen
from harness.targets.info import TargetInfo

_BEHIND_NOW_MS = 60_000
"""The time of records: no retention removes them."""


class NullConversations:
    """One broker. Use as a context manager.

    Attributes:
        served: the APIs and versions that it serves and that change nothing of other clients.
    """

    def __init__(
        self,
        info: TargetInfo,
        address: Address,
        node: int,
        client_id: str,
        *,
        chosen: Chosen = iter,
    ) -> None:
        """``node``: the id of the broker. ``chosen``: returns the conversations that it may get."""
        advertised = served_ranges({k: VersionRange(*v) for k, v in info.api_versions.items()})
        # Of its own: a player deletes every topic that begins with it.
        self._prefix = case_prefix(info.name_prefix, new_nonce(), "null")
        limit_ms = answer_limit_ms(info.time_scale)
        self._player = Player(info.spec, address, advertised, limit_ms, self._prefix, client_id)
        self._node, self._chosen, self._played = node, chosen, 0
        self._stack = ExitStack()
        self.served = shared_versions(advertised, advertised)

    def __enter__(self) -> NullConversations:
        self._stack.enter_context(self._player)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def responses(
        self, api: str, exchanges: int, *, drawn: bool | None = None
    ) -> Iterator[tuple[ConversationStep, Mapping[str, Any]]]:
        """Yield each step that has a response, and this in its dictionary form.

        Steps of other APIs, which prepare, are among them. Arguments as
        :func:`harness.oracle.null_states.conversations_about`. Raises ConnectionClosed if the
        broker cannot be reached.
        """
        about = conversations_about(api, self.served, self._node, exchanges, drawn=drawn)
        for conversation in self._chosen(about):
            self._played += 1
            base_ms = int(time.time() * 1000) - _BEHIND_NOW_MS
            answers = self._player.play(conversation, f"{self._prefix}-{self._played}", base_ms)
            for step, answer in zip(conversation.steps, answers, strict=True):
                if answer.raw is not None:
                    yield step, answer.raw

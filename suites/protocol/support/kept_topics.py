"""Topics that many cases of a file read and none changes: made once, deleted with the file.

A case that appends makes a topic of its own with ``broker.create_topic``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Self

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic

Make = Callable[[BrokerUnderTest], Topic]


class KeptTopics:
    """Use as a context manager; leaving it deletes the topics."""

    def __init__(self) -> None:
        self._client: BrokerUnderTest | None = None
        self._made: dict[Make, Topic] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        client, self._client = self._client, None
        self._made.clear()
        if client is not None:
            with contextlib.suppress(BrokerMisbehaved):  # a dead broker has nothing to delete
                client.close()

    def topic(self, broker: BrokerUnderTest, make: Make) -> Topic:
        """The topic that ``make`` creates and fills, on first use; what it raises is not kept."""
        if self._client is not None and self._client.addresses != broker.addresses:
            self._leave()  # another broker stands in for one that died
        if self._client is None:
            self._client = broker.another(f"{broker.unique_topic()}-kept")
        if make not in self._made:
            self._client.hang_up()  # the watch of this case sees new connections alone
            self._client.user_watch = broker.user_watch
            self._made[make] = make(self._client)
        return self._made[make]

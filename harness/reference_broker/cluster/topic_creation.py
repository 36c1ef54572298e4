"""A broker's requests to the controller for topics that a client's request needs.

The broker has checked the right of the client, and asks as itself: a client that may look for its
group need not have the right to create the offsets topic. Source: class AutoTopicCreationManager.
"""

from __future__ import annotations

import asyncio
import logging

from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse
from harness.reference_broker.cluster.forwarding import Forwarding
from harness.reference_broker.effects import CreationWanted

_LOG = logging.getLogger(__name__)
_TIMEOUT_MS = 30_000


class TopicCreation:
    """Asks for each topic once at a time; clients that need it ask the broker again."""

    def __init__(self, forwarding: Forwarding) -> None:
        self._forwarding = forwarding
        self._asked_for: set[str] = set()

    def ask_for(self, wanted: CreationWanted) -> None:
        """Ask for a topic, unless a request for it is in progress."""
        if wanted.name in self._asked_for:
            return
        self._asked_for.add(wanted.name)
        answered = self._forwarding.create(_request(wanted))
        answered.add_done_callback(lambda future: self._done(wanted.name, future))

    def _done(self, name: str, answered: asyncio.Future[CreateTopicsResponse]) -> None:
        self._asked_for.discard(name)
        if not answered.cancelled() and answered.exception() is not None:
            _LOG.info("topic %s was not created: %s", name, answered.exception())


def _request(wanted: CreationWanted) -> CreateTopicsRequest:
    topic = CreateTopicsRequest.CreatableTopic(
        name=wanted.name,
        num_partitions=wanted.partition_count,
        replication_factor=wanted.replication_factor,
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=name, value=value)
            for name, value in wanted.configs
        ],
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS)

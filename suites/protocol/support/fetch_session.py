"""A fetch session (KIP-227) as a client holds it: the id, and the epoch that counts up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import (
    FETCH_BY_ID,
    READ_MIN_BYTES,
    READ_WAIT_MS,
    Topic,
    fetch_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import NotApplicable

CREATE_EPOCH, FINAL_EPOCH = 0, -1


@dataclass
class FetchSessionClient:
    """An open session; ``opening`` is the full answer that it began with."""

    broker: BrokerUnderTest
    version: int
    id: int
    opening: FetchResponse
    next_epoch: int = 1

    def ask(
        self,
        topics: Sequence[FetchRequest.FetchTopic] = (),
        forgotten: Sequence[FetchRequest.ForgottenTopic] = (),
    ) -> FetchResponse:
        """Send the next incremental fetch, which does not wait for data. Return its response."""
        request = self.next_request(topics)
        request.forgotten_topics_data = list(forgotten)
        return self.broker.ask(request, self.version)

    def next_request(
        self,
        topics: Sequence[FetchRequest.FetchTopic] = (),
        *,
        max_wait_ms: int = READ_WAIT_MS,
        min_bytes: int = READ_MIN_BYTES,
    ) -> FetchRequest:
        """Return the next incremental fetch, for the caller to send.

        By default it does not wait for data.
        """
        request = fetch_request(list(topics), max_wait_ms=max_wait_ms, min_bytes=min_bytes)
        request.session_id, request.session_epoch = self.id, self.next_epoch
        self.next_epoch += 1
        return request

    def ask_at(self, epoch: int) -> FetchResponse:
        """A fetch in this session at an epoch of the caller's choice."""
        request = fetch_request([])
        request.session_id, request.session_epoch = self.id, epoch
        return self.broker.ask(request, self.version)

    def close(self) -> FetchResponse:
        """Close the session at the broker."""
        return self.ask_at(FINAL_EPOCH)


def create_session(
    broker: BrokerUnderTest, version: int, topics: Sequence[FetchRequest.FetchTopic]
) -> FetchResponse:
    """The answer to the fetch that asks for a new session."""
    request = fetch_request(list(topics))
    request.session_epoch = CREATE_EPOCH
    return broker.ask(request, version)


@contextmanager
def fetch_session(
    broker: BrokerUnderTest, version: int, topics: Sequence[FetchRequest.FetchTopic]
) -> Iterator[FetchSessionClient]:
    """A session that is open for the block and closed after it.

    Raises NotApplicable when the broker refuses a session by giving the id 0, which it may, and
    PreparationFailed when it answers with an error.
    """
    opening = create_session(broker, version, topics)
    if opening.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"Fetch at epoch 0: {ErrorCode.describe(opening.error_code)}")
    if opening.session_id == 0:
        raise NotApplicable("fetch_sessions", "the broker refused a fetch session (id 0)")
    session = FetchSessionClient(broker, version, opening.session_id, opening)
    try:
        yield session
    finally:
        with suppress(BrokerMisbehaved):  # the test has its verdict; a session is dropped in time
            session.close()


def forget(topic: Topic, version: int, *partitions: int) -> FetchRequest.ForgottenTopic:
    """The entry that takes partitions out of a session, naming the topic as the version wants."""
    if version >= FETCH_BY_ID:
        return FetchRequest.ForgottenTopic(topic_id=topic.id, partitions=list(partitions))
    return FetchRequest.ForgottenTopic(topic=topic.name, partitions=list(partitions))

"""A committer that goes on through all changes, and the judgement of its offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import ask_for_coordinator
from harness.client.errors import BrokerMisbehaved
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetCommitRequest, OffsetFetchRequest

PAUSE_S = 0.05
PARTITION = 0
COMMIT_VERSIONS, FETCH_VERSIONS = "2-9", "1-7"
"""Those with the name of the topic, and with one group."""
Told = OffsetFetchRequest.OffsetFetchRequestTopic
Committed = OffsetCommitRequest.OffsetCommitRequestTopic


class CommitStep(StrEnum):
    """``sent``: a commit began; ``acknowledged``: it is done; ``refused``: it has an error, or no
    answer; ``fetched``: the committed offset, -1 for none."""

    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    FETCHED = "fetched"


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """``detail``: of a refused commit the error."""

    step: CommitStep
    offset: int
    detail: str = ""


class OffsetCommitter:
    """Commits growing offsets of one group, one at a time, and fetches the committed offset."""

    def __init__(self, group: str, topic: Topic, clients: dict[int, BrokerUnderTest]) -> None:
        self.stopped = threading.Event()
        self.events: list[CommitEvent] = []
        self._group, self._topic, self._clients = group, topic, clients

    def run(self) -> None:
        """Commit and fetch until the committer is stopped."""
        offset = 0
        while not self.stopped.is_set():
            offset += 1
            client = self._coordinator()
            if client is not None:
                self._commit(client, offset)
                self.fetch(client)
            time.sleep(PAUSE_S)

    @property
    def acknowledged(self) -> int:
        """The number of acknowledged commits so far."""
        return sum(one.step is CommitStep.ACKNOWLEDGED for one in list(self.events))

    def fetch(self, client: BrokerUnderTest) -> None:
        """Note the committed offset, if the broker returns it."""
        wanted = [Told(name=self._topic.name, partition_indexes=[PARTITION])]
        request = OffsetFetchRequest(group_id=self._group, topics=wanted)
        with suppress(BrokerMisbehaved):
            answer = client.ask(request, client.version("OffsetFetch", FETCH_VERSIONS))
            found = only(only(answer.topics, "topic").partitions, "partition")
            if answer.error_code == found.error_code == ErrorCode.NONE:
                self._note(CommitStep.FETCHED, found.committed_offset)

    def fetch_last(self) -> bool:
        """Fetch once more after the end; False if no coordinator answers."""
        before, client = len(self.events), self._coordinator()
        if client is not None:
            self.fetch(client)
        return len(self.events) > before

    def _commit(self, client: BrokerUnderTest, offset: int) -> None:
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(
            partition_index=PARTITION, committed_offset=offset
        )
        request = OffsetCommitRequest(
            group_id=self._group,
            topics=[Committed(name=self._topic.name, partitions=[partition])],
        )
        self._note(CommitStep.SENT, offset)
        try:
            answer = client.ask(request, client.version("OffsetCommit", COMMIT_VERSIONS))
        except BrokerMisbehaved as failed:
            self._note(CommitStep.REFUSED, offset, type(failed).__name__)
            return
        code = only(only(answer.topics, "topic").partitions, "partition").error_code
        step = CommitStep.ACKNOWLEDGED if code == ErrorCode.NONE else CommitStep.REFUSED
        self._note(step, offset, "" if code == ErrorCode.NONE else ErrorCode.describe(code))

    def _coordinator(self) -> BrokerUnderTest | None:
        for client in self._clients.values():
            with suppress(BrokerMisbehaved):
                found = ask_for_coordinator(client, self._group)
                if found.error_code == ErrorCode.NONE and found.node in self._clients:
                    return self._clients[found.node]
        return None

    def _note(self, step: CommitStep, offset: int, detail: str = "") -> None:
        self.events.append(CommitEvent(step, offset, detail))


def broken_commits(events: Iterable[CommitEvent]) -> list[str]:
    """Return a sentence for each committed offset that was lost or is of no commit.

    An offset that is fetched after an acknowledged commit is that one's, or that of a later commit
    of unknown outcome. Pure.
    """
    sent = acknowledged = -1
    broken: list[str] = []
    for event in events:
        if event.step is CommitStep.SENT:
            sent = event.offset
        elif event.step is CommitStep.ACKNOWLEDGED:
            acknowledged = event.offset
        elif event.step is CommitStep.FETCHED and event.offset < acknowledged:
            broken.append(f"the commit of {acknowledged} is lost: {event.offset} is fetched")
        elif event.step is CommitStep.FETCHED and event.offset > sent:
            broken.append(f"{event.offset} is fetched, and no more than {sent} was committed")
    return broken

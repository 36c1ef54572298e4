"""The topics of a commit: what exists goes to the coordinator of the group, the rest is refused.

OffsetCommit and TxnOffsetCommit treat them alike. Source: class KafkaApis, the classes
OffsetCommitResponse and TxnOffsetCommitResponse, the method merge of each builder.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.group_coordinator import (
    EACH_IS_ANSWERED,
    MISSING_TOPICS_ARE_ANSWERED,
)
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.handlers.topic_results import first_of_each, merged
from harness.reference_broker.state.topics.topic import TopicState

_PARTITIONS_ARE_LOOKED_FOR = (2, 0)  # KAFKA-6796


class CommitForms(NamedTuple):
    """Classes of the response's parts, and the first version that names topics by their ids."""

    topic: Any
    partition: Any
    first_by_id: int


class KnownTopic(NamedTuple):
    """A topic, its entry in the request, and the entries of its partitions that exist."""

    state: TopicState
    wanted: Any
    parts: list[Any]


class CommittedTopics:
    """The topics of one request.

    Attributes:
        known: those with a partition that exists, in the order of the request.
    """

    def __init__(self, topics: Sequence[Any], forms: CommitForms, context: RequestContext) -> None:
        self._forms, self._context = forms, context
        self._refused: dict[UUID | str, Any] = {}
        self.known: list[KnownTopic] = []
        for wanted in topics:
            if wanted.partitions or context.state.like.since(*MISSING_TOPICS_ARE_ANSWERED):
                self._sort(wanted)
        if not context.state.like.since(*EACH_IS_ANSWERED):
            self.known = _each_once(self.known)

    def _sort(self, wanted: Any) -> None:
        topic, unknown = self._topic_of(wanted)
        here = [part for part in wanted.partitions if self._is_in(topic, part)]
        if topic is None or len(here) < len(wanted.partitions):
            missing = [part for part in wanted.partitions if not self._is_in(topic, part)]
            result = self._refused.setdefault(self._key(wanted), self._empty_result(wanted))
            if not self._context.state.like.since(*MISSING_TOPICS_ARE_ANSWERED):
                missing = first_of_each(missing, result.partitions)
            result.partitions += [self._result(part, unknown) for part in missing]
        if topic is not None and here:
            self.known.append(KnownTopic(topic, wanted, here))

    def answered(self, codes: Sequence[ErrorCode]) -> tuple[list[Any], list[Any]]:
        """Return the results of all topics, and of the known partitions alone.

        ``codes``: of the known partitions, in order.
        """
        left = iter(codes)
        committed = []
        for _, wanted, parts in self.known:
            result = self._empty_result(wanted)
            result.partitions = [self._result(part, next(left)) for part in parts]
            committed.append(result)
        partitions = [part for topic in committed for part in topic.partitions]
        return merged(self._refused, committed, self._key), partitions

    def _key(self, topic: Any) -> UUID | str:
        key: UUID | str = topic.topic_id if self._by_id else topic.name
        return key

    @property
    def _by_id(self) -> bool:
        return self._context.api_version >= self._forms.first_by_id

    def _topic_of(self, wanted: Any) -> tuple[TopicState | None, ErrorCode]:
        """Return the topic, or None, and the error of its partitions that do not exist."""
        cluster, unknown = self._context.state.cluster, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not self._by_id:
            return cluster.named(wanted.name), unknown
        topic = cluster.with_id(wanted.topic_id)
        return topic, ErrorCode.UNKNOWN_TOPIC_ID if topic is None else unknown

    def _is_in(self, topic: TopicState | None, part: Any) -> bool:
        """True if the partition exists; before 2.0 an existing topic was enough (KAFKA-6796)."""
        if topic is None or not self._context.state.like.since(*_PARTITIONS_ARE_LOOKED_FOR):
            return topic is not None
        return topic.partition(part.partition_index) is not None

    def _empty_result(self, wanted: Any) -> Any:
        return self._forms.topic(name=wanted.name, topic_id=wanted.topic_id)

    def _result(self, part: Any, error: ErrorCode) -> Any:
        return self._forms.partition(partition_index=part.partition_index, error_code=error)


def _each_once(known: Sequence[KnownTopic]) -> list[KnownTopic]:
    """Return each partition once, with its last entry."""
    once = once_by_topic(
        ((topic.name, parts) for topic, _, parts in known), lambda part: part.partition_index
    )
    first = {topic.name: (topic, wanted) for topic, wanted, _ in reversed(known)}
    return [KnownTopic(*first[name], parts) for name, parts in once]

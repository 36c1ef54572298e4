"""Drawn conversations that make state, and that show it after restarts of the broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.differential.generator import Ranges, request_fields
from harness.differential.openings import OPENINGS, Request, known_fields
from harness.differential.symbols import RECORDS
from harness.oracle.own_objects import is_shared
from harness.oracle.parted_conversation import PartedConversation, ends_like, is_before_4_0

_OPENINGS, _CHANGES, _GOING_ON = 3, 8, 6
"""So many openings and drawn requests before the first restart, and requests after each."""
_TOPICS, _GROUPS, _PARTITIONS = ("$name-a", "$name-b"), ("$name-g", "$name-h"), (0, 1)
_WEIGHTS: Mapping[str, int] = {
    "Produce": 6, "InitProducerId": 1, "DeleteRecords": 2, "CreateTopics": 1,
    "CreatePartitions": 1, "IncrementalAlterConfigs": 2, "AlterConfigs": 1, "OffsetCommit": 3,
    "OffsetDelete": 1, "AlterClientQuotas": 2, "JoinGroup": 1, "SyncGroup": 1, "LeaveGroup": 1,
    "DeleteGroups": 1, "DeleteTopics": 1,
}  # fmt: skip
"""APIs that change what outlives a restart, and how often each is drawn."""
_FETCH_OF_BATCHES = VersionRange.parse("4+")
_LOST_BY_KILL = "DeleteRecords"
"""Kafka writes the start of a log down each minute, and at a stop: what a kill loses is a race."""


def parted_conversations(
    seed: int, shared: Ranges, count: int, like: str
) -> list[PartedConversation]:
    """Return conversations for brokers like a release, empty for the newest.

    The same seed, versions and release make the same ones.
    """
    rng, made, ends = Random(seed), [], ends_like(like)
    may_draw = _drawable(shared, like)
    for number in range(count):
        parts = tuple(_parts(rng, may_draw, len(ends)))
        made.append(PartedConversation(f"seed {seed}, conversation {number}", parts, ends))
    return made


def _drawable(shared: Ranges, like: str) -> Ranges:
    """Return the APIs and versions with responses that no other conversation changes.

    Before 4.0 the deletion of a topic removes every empty group without offsets
    (``GroupMetadataManager.cleanupGroupMetadata``). Where Fetch 0 to 3 cuts converted batches
    depends on how well a broker compresses (``LazyDownConversionRecordsSend``).
    """
    left_out = ("DeleteTopics",) if is_before_4_0(like) else ()
    kept = {name: versions for name, versions in shared.items() if name not in left_out}
    fetched = kept.get("Fetch", VersionRange(0, -1)) & _FETCH_OF_BATCHES
    return {**kept, "Fetch": fetched} if fetched else {k: kept[k] for k in kept if k != "Fetch"}


def _parts(rng: Random, shared: Ranges, restarts: int) -> Iterator[tuple[ConversationStep, ...]]:
    changing = [name for name in _WEIGHTS if name in shared]
    made = [_step(rng, shared, one) for one in _opened(rng) if one[0] in shared]
    yield _own([*made, *_drawn(rng, shared, changing, _CHANGES)])
    kept = [name for name in changing if name != _LOST_BY_KILL]
    for _ in range(restarts):
        shown = [_step(rng, shared, one) for one in _views(rng) if one[0] in shared]
        rng.shuffle(shown)
        others = list(dict.fromkeys([*kept, *(step.api for step in shown)]))
        yield _own([*shown, *_drawn(rng, shared, others, _GOING_ON)])


def _opened(rng: Random) -> list[Request]:
    """Return the requests of several openings, each once."""
    found: list[Request] = []
    for opening in rng.sample(OPENINGS, _OPENINGS):
        found += [request for request in opening.requests if request not in found]
    return found


def _drawn(
    rng: Random, shared: Ranges, names: Sequence[str], count: int
) -> Iterator[ConversationStep]:
    for api in rng.choices(names, [_WEIGHTS.get(name, 1) for name in names], k=count):
        version = rng.choice(list(shared[api]))
        yield ConversationStep(api, version, request_fields(rng, api, version))


def _step(rng: Random, shared: Ranges, request: Request) -> ConversationStep:
    api, fields = request
    version = rng.choice(list(shared[api]))
    return ConversationStep(api, version, known_fields(api, version, fields))


def _own(steps: Sequence[ConversationStep]) -> tuple[ConversationStep, ...]:
    return tuple(step for step in steps if not is_shared(step))


# -- what shows the state ------------------------------------------------------------------------


def _views(rng: Random) -> list[Request]:
    """Return a request of each API that shows state, about all that a conversation may have."""
    return [request for view in _VIEWS for request in view(rng)]


def _of_topics(rng: Random) -> Iterator[Request]:
    named = [{"name": name} for name in _TOPICS]
    yield "Metadata", {"topics": named, "allow_auto_topic_creation": False}
    yield "DescribeTopicPartitions", {"topics": named, "response_partition_limit": 2000}
    keys = ["retention.ms", "cleanup.policy", "max.message.bytes", "compression.type",
            "min.insync.replicas", "message.timestamp.type"]  # fmt: skip
    resources = [{"resource_type": 2, "resource_name": name, "configuration_keys": keys}
                 for name in _TOPICS]  # fmt: skip
    yield "DescribeConfigs", {"resources": resources, "include_synonyms": rng.random() < 0.5}
    yield "DescribeLogDirs", {"topics": None}
    yield "ListConfigResources", {}


def _of_records(rng: Random) -> Iterator[Request]:
    for _ in range(2):
        fetched = [{"partition": index, "fetch_offset": rng.choice((0, 1, 2, 3, 4)),
                    "partition_max_bytes": 1 << 20} for index in _PARTITIONS]  # fmt: skip
        yield "Fetch", {
            "replica_id": -1, "max_bytes": 1 << 20, "isolation_level": rng.choice((0, 1)),
            "topics": [{"topic": "$name-a", "topic_id": "$topic_id:0", "partitions": fetched}],
        }  # fmt: skip
    for timestamp in (-1, -2, -3, rng.choice(("$time:0", "$time:5", "$time:10", "$time:15"))):
        asked = [{"partition_index": index, "timestamp": timestamp, "max_num_offsets": 1}
                 for index in _PARTITIONS]  # fmt: skip
        topics = [{"name": "$name-a", "partitions": asked}]
        yield "ListOffsets", {"replica_id": -1, "topics": topics}
    epochs = [{"partition": index, "leader_epoch": rng.choice((0, 0, 1, 2, 3))}
              for index in _PARTITIONS]  # fmt: skip
    topics = [{"topic": "$name-a", "partitions": epochs}]
    yield "OffsetForLeaderEpoch", {"replica_id": -1, "topics": topics}


def _of_producers(rng: Random) -> Iterator[Request]:
    topics = [{"name": "$name-a", "partition_indexes": list(_PARTITIONS)}]
    yield "DescribeProducers", {"topics": topics}
    batch = {"magic": 2, "producer_id": "$producer_id:0", "producer_epoch": 0,
             "base_sequence": rng.choice((0, 1, 1, 2, 3)),
             "records": [{"timestamp": "$time:5", "key": None, "value": "76"}]}  # fmt: skip
    data = [{"index": 0, "records": {RECORDS: [batch]}}]
    topic = {"name": "$name-a", "topic_id": "$topic_id:0", "partition_data": data}
    yield "Produce", {"acks": -1, "timeout_ms": 30_000, "topic_data": [topic]}


def _of_groups(rng: Random) -> Iterator[Request]:
    yield "DescribeGroups", {"groups": list(_GROUPS)}
    yield "ListGroups", {}
    group = rng.choice(_GROUPS)
    wanted = [{"group_id": name, "topics": None} for name in _GROUPS]
    named = [{"name": "$name-a", "partition_indexes": list(_PARTITIONS)}]
    yield "OffsetFetch", {"group_id": group, "topics": named, "groups": wanted}
    member = {"group_id": "$name-g", "member_id": "$member_id:0", "generation_id": 1}
    yield "Heartbeat", member
    yield "SyncGroup", {**member, "protocol_type": "consumer", "protocol_name": "range"}


def _of_quotas(_: Random) -> Iterator[Request]:
    component = {"entity_type": "user", "match_type": 0, "match": "$name-u"}
    yield "DescribeClientQuotas", {"components": [component], "strict": False}


_VIEWS: tuple[Callable[[Random], Iterator[Request]], ...] = (
    _of_topics, _of_records, _of_producers, _of_groups, _of_quotas,
)  # fmt: skip

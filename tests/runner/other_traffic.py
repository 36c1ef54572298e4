"""Traffic of other clients on a broker that is judged meanwhile: all of it about own names.

Each kind repeats one round until the end. What a round makes it deletes, but for half of the fetch
sessions, which stay open as those of clients that end without a word.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import Self

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import fetch_partition, fetch_topic
from harness.codec.messages import ListGroupsRequest
from suites.durability.support.transactional import OpenTransaction
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.client_quota import client_quota
from suites.protocol.support.committed_offsets import commit, entry, fresh_group
from suites.protocol.support.config_admin import TOPIC, set_key
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.fetch_session import create_session, fetch_session
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.topic_admin import ask_to_create, ask_to_delete, creatable

OPEN_SESSIONS = 200
"""Left open at most: a fifth of what a Kafka keeps for all its clients."""
PAUSE_S = 0.01
"""Between two rounds of a kind, so that the judge has some of the machine too."""
TOPICS = 20
BYTES_PER_S = 1_000_000
GARBAGE = b"\x00\x00\x00\x08garbage!"

Round = Callable[[BrokerUnderTest], None]


def topics(client: BrokerUnderTest) -> None:
    """Many topics come at once and go one after the other, as fast as the broker can."""
    names = [client.unique_topic() for _ in range(TOPICS)]
    ask_to_create(client, client.version("CreateTopics"), *map(creatable, names))
    for name in names:
        ask_to_delete(client, client.version("DeleteTopics"), name)


def groups(client: BrokerUnderTest) -> None:
    """Two members join a new group, one after the other, and leave."""
    group = ClassicGroup(client)
    try:
        group.stable(None, None)
    finally:
        group.close()


def commits(client: BrokerUnderTest) -> None:
    """Groups without members commit; one of their topics goes before the groups do."""
    staying, going = client.create_topic(), client.create_topic()
    for topic in (staying, going):
        commit(client, fresh_group(client, topic), {staying: [entry(1)], topic: [entry(2)]})


def sessions(client: BrokerUnderTest) -> None:
    """A fetch session is used and closed, another one is left behind."""
    topic, version = client.create_topic(), client.version("Fetch", "7+")
    wanted = [fetch_topic(topic, version, [fetch_partition(0)])]
    with fetch_session(client, version, wanted) as session:
        session.ask()
    create_session(client, version, wanted)


def quotas(client: BrokerUnderTest) -> None:
    """A client id has quotas for a while."""
    client_id = client.unique_topic()
    with (
        client_quota(client, client_id, "producer_byte_rate", BYTES_PER_S),
        client_quota(client, client_id, "consumer_byte_rate", BYTES_PER_S),
    ):
        client.connect(client_id).close()


def configs(client: BrokerUnderTest) -> None:
    """A topic's settings change."""
    topic = TOPIC, client.create_topic().name
    for value in ("1000000", "2000000"):
        set_key(client, topic, "retention.ms", value)


def producers(client: BrokerUnderTest) -> None:
    """Producer ids are drawn and used, records are deleted."""
    topic = client.create_topic()
    for _ in range(3):
        append(client, topic, new_producer(client).batch(0, b"a", b"b"))
    delete_records(client, topic, 3)


def transactions(client: BrokerUnderTest) -> None:
    """One is committed and one aborted."""
    topic = client.create_topic()
    producer = OpenTransaction(client, topic)
    for commits_it in (True, False):
        producer.append([0], b"in a transaction", now_ms())
        producer.end(commit=commits_it)


def questions(client: BrokerUnderTest) -> None:
    """Everything is listed; a connection ends in the midst of nonsense."""
    client.metadata(None)
    client.ask(ListGroupsRequest())
    with suppress(BrokerMisbehaved):
        broken = client.connect()
        broken.send_bytes(GARBAGE)
        broken.reset()


KINDS: Sequence[Round] = [
    *(topics, groups, commits, sessions, quotas, configs, producers, transactions, questions)
]


class OtherTraffic:
    """All kinds at once, each on a thread of its own, for as long as a ``with`` block lasts."""

    def __init__(self, client: BrokerUnderTest, kinds: Sequence[Round] = KINDS) -> None:
        self.rounds: Counter[str] = Counter()
        """Whole ones, by their kind."""
        self.not_served: set[str] = set()
        """Kinds that lack an API at this broker."""
        self._client = client
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._repeat, args=(kind,)) for kind in kinds]

    def _repeat(self, kind: Round) -> None:
        name = kind.__name__
        for number in itertools.count():
            if self._ended.wait(PAUSE_S) or (kind is sessions and number == OPEN_SESSIONS):
                return
            with (
                suppress(BrokerMisbehaved),
                closing(self._client.another(f"strangers-{name}-{number}")) as client,
            ):
                try:
                    kind(client)
                except ApiNotAdvertised:
                    self.not_served.add(name)
                    return
                self.rounds[name] += 1

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

"""The broker under test, as a test sees it: connections, and the few operations that all need.

Operations use the highest version that both sides know, unless a test names one. Every wait
grows with the time scale that was measured on the target.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from harness.base.pace import patience
from harness.client.connection import DEFAULT_TIMEOUT_MS, Address, Connection
from harness.client.coordinator import coordinated_name
from harness.client.deletion import delete_groups, delete_topics
from harness.client.errors import (
    ApiNotAdvertised,
    BrokerMisbehaved,
    PreparationFailed,
    ResponseTimeout,
)
from harness.client.grants import Grants
from harness.client.new_topic import make_topic
from harness.client.older_forms import records_for, with_one_offset
from harness.client.only import only
from harness.client.placeholder_versions import served_range
from harness.client.preparing import preparing
from harness.client.requests import (
    FETCH_BY_ID,
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
    produce_request,
)
from harness.client.topic_maker import TopicMaker
from harness.client.transcript import Transcript
from harness.client.user_watch import UserWatch
from harness.client.waiting import last_seen
from harness.client.wire_coverage import Observer
from harness.codec.apis import API_VERSIONS_KEY, api_named, api_of
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import (
    ApiVersionsRequest,
    FetchResponse,
    ListOffsetsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceResponse,
)
from harness.codec.structs import Message, Request
from harness.codec.versions import NO_VERSIONS, VersionRange
from harness.security.doors import Door

__all__ = ["ApiNotAdvertised", "BrokerUnderTest", "PreparationFailed"]

M = TypeVar("M", bound=Message)
T = TypeVar("T")
KEPT_TRANSCRIPTS = 20


class BrokerUnderTest:
    """A client of one broker; ``name_prefix`` stands before every name that is made here."""

    def __init__(
        self,
        addresses: Sequence[Address],
        api_versions: Mapping[int, tuple[int, int]],
        *,
        time_scale: float = 1.0,
        name_prefix: str = "kc",
        seed: str = "",
        observer: Observer | None = None,
        topic_maker: TopicMaker | None = None,
        grants: Grants | None = None,
        greases: bool = False,
        node: int | None = None,
        private: bool = False,
        reached: Mapping[Address, Address] | None = None,
    ) -> None:
        """``seed`` starts ``random``, the only source of chance that a test may use.

        ``observer``, ``grants`` (None: all may be sent), ``greases``: see :class:`Connection`.
        ``topic_maker``: for brokers without CreateTopics. ``node``: this broker's id where there
        are others too, so that topics and groups have to be made with it; None: it is alone, or
        that does not matter. ``private``: another one may be at its address later.
        ``reached``: where this machine reaches the addresses that the cluster lists, for those
        that differ.
        """
        self.addresses = list(addresses)
        self.api_versions = {key: VersionRange(*pair) for key, pair in api_versions.items()}
        self.time_scale = time_scale
        self.random = random.Random(seed)
        self.transcripts: list[Transcript] = []
        self.observer, self.topic_maker = observer, topic_maker
        self.user_watch: UserWatch | None = None
        self.grants, self.greases = grants or Grants(), greases
        self.node, self.private = node, private
        self.reached = dict(reached or {})
        self._name_prefix = name_prefix
        self._counter = itertools.count(1)
        self._connections: list[Connection] = []
        self._side: Connection | None = None
        self._created: list[Topic] = []
        self._groups: list[str] = []

    @property
    def address(self) -> Address:
        """The first bootstrap address."""
        return self.addresses[0]

    def scaled_ms(self, base_ms: float) -> float:
        """Return a deadline that is right on a fast machine, stretched to this target."""
        return base_ms * self.time_scale

    def advertised(self, api_name: str) -> VersionRange:
        """The versions that the broker advertises; empty when it does not know the API.

        Versions that are shown for old clients' sake alone are left out, see ``shown``.
        """
        return served_range(self.api_versions, api_name)

    def shown(self, api_name: str) -> VersionRange:
        """The versions that ApiVersions lists, placeholders included."""
        return self.api_versions.get(api_named(api_name).key, NO_VERSIONS)

    def version(self, api_name: str, wanted: str = "0+") -> int:
        """The highest version of ``wanted`` that broker and codec know; raises ApiNotAdvertised."""
        api = api_named(api_name)
        usable = self.advertised(api_name) & VersionRange.parse(wanted) & api.valid_versions
        if not usable:
            raise ApiNotAdvertised(
                f"{api_name} {wanted} is needed, advertised is {self.advertised(api_name)}"
            )
        return usable.highest

    # -- connections ------------------------------------------------------------------------

    def connect(
        self,
        client_id: str | None = DEFAULT_CLIENT_ID,
        timeout_ms: float | None = None,
        *,
        through: Address | None = None,
        authenticates: bool = True,
        door: Door | None = None,
    ) -> Connection:
        """A connection of the test's own; closed when the test ends. ``door``: as `Connection`'s.

        ``timeout_ms``: of each answer; by default longer on a busy machine. ``through``: a proxy.
        """
        base_ms = DEFAULT_TIMEOUT_MS * patience() if timeout_ms is None else timeout_ms
        at, timeout_ms = through or self.address, self.scaled_ms(base_ms)
        user = self.user_watch if authenticates and door is None else None
        watch = None if user is None else user.new_connection()
        given = (self.observer, self.grants, self.greases, authenticates, door, watch)
        connection = Connection(at, client_id, timeout_ms, *given)
        self._connections.append(connection)
        self.transcripts = [*self.transcripts, connection.transcript][-KEPT_TRANSCRIPTS:]
        return connection

    def ask(self, message: Request[M], version: int | None = None, *, tolerant: bool = False) -> M:
        """Ask on a connection that the operations here share; a broken one is replaced.

        ``tolerant`` as in :meth:`Connection.ask`.
        """
        if version is None:
            version = self.version(api_of(type(message)).name)
        if self._side is None:
            self._side = self.connect()
        try:
            return self._side.ask(message, version, tolerant=tolerant)
        except BrokerMisbehaved:
            self._side.close()
            self._side = None
            raise

    def another(self, name_prefix: str) -> BrokerUnderTest:
        """Return another client of the same broker, with its own names; the caller closes it."""
        versions = {key: (each.lowest, each.highest) for key, each in self.api_versions.items()}
        return BrokerUnderTest(
            self.addresses,
            versions,
            time_scale=self.time_scale,
            name_prefix=name_prefix,
            observer=self.observer,
            topic_maker=self.topic_maker,
            grants=self.grants,
            node=self.node,
            private=self.private,
            reached=self.reached,
        )

    def is_alive(self) -> bool:
        """True if a new connection gets an answer: ApiVersions, or Metadata on older brokers."""
        request: Request[Message] = ApiVersionsRequest()
        if API_VERSIONS_KEY not in self.api_versions:
            request = MetadataRequest(topics=[])  # of all topics: a name could make one
        try:
            with Connection(self.address, timeout_ms=self.scaled_ms(5000)) as connection:
                connection.ask(request, 0)
        except BrokerMisbehaved:
            return False
        return True

    def hang_up(self) -> None:
        """Close all connections; the next question is asked on a new one."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._side = None

    def leave(self) -> None:
        """Close all connections and delete nothing: the broker goes with all that it has."""
        self._groups, self._created = [], []
        self.hang_up()

    def close(self) -> None:
        """Delete the groups and topics that were made here, and close all connections."""
        groups, self._groups = self._groups, []
        topics, self._created = list(dict.fromkeys(t.name for t in self._created)), []
        try:
            try:
                delete_groups(self, groups)
            finally:
                delete_topics(self, topics)
        finally:
            self.hang_up()

    # -- topics ------------------------------------------------------------------------------

    def unique_topic(self) -> str:
        """A name that no other test uses."""
        return f"{self._name_prefix}-{next(self._counter)}"

    def unique_group(self) -> str:
        """A name that no other test uses, of a group that this broker coordinates."""
        return coordinated_name(self)

    def create_topic(
        self,
        partitions: int = 1,
        configs: Mapping[str, str] | None = None,
        name: str | None = None,
        *,
        exactly: bool = False,
    ) -> Topic:
        """A new topic that is already served: its log end can be asked. Deleted with the test.

        In a cluster its leader is this broker. How it is made, ``exactly``, and what is raised:
        :func:`harness.client.new_topic.make_topic`.
        """
        name = name or self.unique_topic()
        with preparing(f"a new topic, {name}"):
            make_topic(self, name, partitions, configs or {}, exactly=exactly)
            topic = Topic(name, self._topic_id(name))
            self._created.append(topic)
            for partition in range(partitions):
                self.await_served(topic, partition)
        return topic

    def delete_group_later(self, group_id: str) -> None:
        """Delete this group when the test ends, if it exists."""
        self._groups.append(group_id)

    def delete_later(self, *names: str) -> None:
        """Delete these topics with the test, as those of ``create_topic``, where they exist."""
        self._created += [Topic(name) for name in names]

    def await_served(self, topic: Topic, partition: int = 0) -> None:
        """Wait until the partition answers: shown with a leader is not yet served."""
        request = list_offsets_request(topic, LATEST, partition=partition)
        self.eventually(
            lambda: _one_offset(self.ask(request)).error_code == ErrorCode.NONE,
            f"{topic.name}-{partition} is served",
        )

    def _topic_id(self, name: str) -> UUID:
        if 10 not in self.advertised("Metadata"):
            return ZERO_UUID
        return self.eventually(
            lambda: next(
                (t.topic_id for t in self.metadata([name]).topics if t.error_code == 0), None
            ),
            f"{name} is in the metadata",
        )

    def metadata(
        self, names: Sequence[str] | None, version: int | None = None, *, auto_create: bool = False
    ) -> MetadataResponse:
        """Metadata of the named topics, of all with None. ``auto_create`` works from v4.

        At no named version the answer prepares and is not judged: it is read tolerantly.
        """
        tolerant = version is None
        version = self.version("Metadata") if version is None else version
        topics = (
            None if names is None else [MetadataRequest.MetadataRequestTopic(name=n) for n in names]
        )
        if topics is None and version == 0:
            topics = []  # v0 says "all" by an empty list
        request = MetadataRequest(
            topics=topics, allow_auto_topic_creation=auto_create or version < 4
        )
        return self.ask(request, version, tolerant=tolerant)

    def own_id(self) -> int:
        """Return the id of the broker at ``address``; of the first listed where none has it."""
        brokers = self.metadata([]).brokers
        here = [one.node_id for one in brokers if (one.host, one.port) == tuple(self.address)]
        return here[0] if here else brokers[0].node_id

    # -- records -----------------------------------------------------------------------------

    def produce(
        self,
        topic: Topic,
        records: bytes | None,
        version: int | None = None,
        *,
        partition: int = 0,
        acks: int = -1,
    ) -> ProduceResponse.PartitionProduceResponse:
        """The answer for the one partition that was produced to.

        At no named version ``records`` is a batch that prepares: an old broker gets it as a
        message set.
        """
        if version is None:
            version = self.version("Produce")
            records = records_for(version, records)
        request = produce_request(topic, records, version, partition=partition, acks=acks)
        topic_answer = only(self.ask(request, version).responses, "topic")
        return only(topic_answer.partition_responses, "partition")

    def fetch(
        self,
        topic: Topic,
        offset: int,
        version: int | None = None,
        *,
        partition: int = 0,
        partition_max_bytes: int = 1 << 20,
        isolation_level: int = 0,
    ) -> FetchResponse.PartitionData:
        """The answer, at once, for the one partition that was fetched."""
        version = self.reading_version(topic) if version is None else version
        wanted = fetch_partition(
            offset, partition=partition, partition_max_bytes=partition_max_bytes
        )
        request = fetch_request(
            [fetch_topic(topic, version, [wanted])], isolation_level=isolation_level
        )
        return only(only(self.ask(request, version).responses, "topic").partitions, "partition")

    def reading_version(self, topic: Topic) -> int:
        """The highest version of Fetch that can name the topic: one without an id by its name."""
        by_name_only = topic.id == ZERO_UUID and 4 in self.advertised("Fetch")
        return self.version("Fetch", f"4-{FETCH_BY_ID - 1}" if by_name_only else "0+")

    def list_offset(
        self, topic: Topic, timestamp: int, version: int | None = None, *, partition: int = 0
    ) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
        """The answer for the one partition that was asked; ``offset`` of v0 is the first listed."""
        request = list_offsets_request(topic, timestamp, partition=partition)
        version = self.version("ListOffsets") if version is None else version
        return with_one_offset(_one_offset(self.ask(request, version)), version)

    def end_offset(self, topic: Topic, partition: int = 0) -> int:
        """The next offset to be written; raises PreparationFailed on an error code."""
        answer = self.list_offset(topic, LATEST, partition=partition)
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"ListOffsets: {ErrorCode.describe(answer.error_code)}")
        return answer.offset

    # -- waiting -----------------------------------------------------------------------------

    def eventually(self, ask: Callable[[], T | None], what: str, within_ms: float = 15_000) -> T:
        """Ask again and again until the answer is true; raises ResponseTimeout, naming ``what``."""
        if not (found := self.last_seen(ask, bool, within_ms)):
            raise ResponseTimeout(f"not within {self.scaled_ms(within_ms):.0f} ms: {what}")
        return found

    def last_seen(
        self, ask: Callable[[], T], is_right: Callable[[T], bool], within_ms: float = 15_000
    ) -> T:
        """The first answer that is right; when none was within the time, the last."""
        return last_seen(ask, is_right, self.scaled_ms(within_ms), self.user_watch)


def _one_offset(answer: ListOffsetsResponse) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    return only(only(answer.topics, "topic").partitions, "partition")

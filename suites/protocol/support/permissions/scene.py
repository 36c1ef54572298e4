"""The objects of one case of the permission matrix: a user, and what its requests name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import GROUP, TRANSACTION, await_coordinator, coordinated_name
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.committed_offsets import commit, entry
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.rights import CLUSTER_NAME, Right
from suites.protocol.support.tokens import (
    REMOVE,
    USER,
    Created,
    await_known,
    creation,
    expired,
)
from suites.protocol.support.transactional import TxnProducer

CLIENT_ID = "permissions"


class Scene:
    """Each object is made when a request first names it."""

    def __init__(self, broker: BrokerUnderTest, user: Principal) -> None:
        self.broker = broker
        """Entered by the user of the run, which may do everything."""
        self.user = user
        self._new_topic: str | None = None
        self._at_end: list[Callable[[], object]] = []

    @cached_property
    def topic(self) -> Topic:
        """A topic with two records."""
        made = self.broker.create_topic()
        append(self.broker, made, batch_of(b"first", b"second"))
        return made

    @cached_property
    def group(self) -> str:
        """The name of a group; :meth:`make_group` makes it."""
        name = self.broker.unique_group()
        await_coordinator(self.broker, GROUP, name)
        return name

    def make_group(self) -> None:
        """Commit an offset of the topic in the group."""
        commit(self.broker, self.group, {self.topic: [entry(1)]})
        self.broker.delete_group_later(self.group)

    @cached_property
    def transactional_id(self) -> str:
        """A name that no producer has; that of :meth:`open_transaction` behind it."""
        await_coordinator(self.broker, TRANSACTION)
        name = coordinated_name(self.broker, TRANSACTION)
        await_coordinator(self.broker, TRANSACTION, name)
        return name

    def open_transaction(self) -> None:
        """Begin a transaction that has written to the topic."""
        producer = TxnProducer(self.broker, CLIENT_ID, name=self.transactional_id)
        self.at_end(lambda: producer.finish(commit=False))
        producer.write(self.topic, b"open")

    @cached_property
    def token(self) -> Created:
        """A delegation token of the user of the run."""
        version = self.broker.version("CreateDelegationToken")
        made = self.broker.ask(creation(version), version)
        expect_error(made.error_code, ErrorCode.NONE, "CreateDelegationToken")
        change = self.broker.version("ExpireDelegationToken")
        self.at_end(lambda: expired(self.broker, bytes(made.hmac), REMOVE, change))
        await_known(self.broker, made)
        return made

    @property
    def new_topic(self) -> str:
        """The name of a topic that does not exist, another one for each line of the matrix."""
        if self._new_topic is None:
            self._new_topic = self.broker.unique_topic()
            self.broker.delete_later(self._new_topic)
        return self._new_topic

    def begin_line(self) -> None:
        """Forget the name of the topic that the line before may have created."""
        self._new_topic = None

    def at_end(self, undo: Callable[[], object]) -> None:
        """Call this when the case ends."""
        self._at_end.append(undo)

    def close(self) -> None:
        """End what is open, and remove what was made."""
        with ExitStack() as stack:
            for undo in self._at_end:
                stack.callback(undo)

    def named(self, word: str) -> object:
        """Return the name, or the id, of what the matrix calls by this word."""
        return _NAMED[word](self)

    def rights(self, held: str) -> list[Right]:
        """Return the rights of a line: ``READ topic, WRITE transactional-id``, or ``-``."""
        return [self._right(*each.split()) for each in held.split(", ") if each != "-"]

    def _right(self, operation: str, word: str) -> Right:
        kind = Resource[word.removeprefix("new-").replace("-", "_").upper()]
        name = CLUSTER_NAME if kind is Resource.CLUSTER else str(self.named(word))
        return Right(Operation[operation], kind, name)


@contextmanager
def scene_of(broker: BrokerUnderTest) -> Iterator[Scene]:
    """Add a user without rights; close its scene and remove it at the end."""
    with ordinary_user(broker) as user:
        scene = Scene(broker, user)
        try:
            yield scene
        finally:
            scene.close()


_NAMED: Mapping[str, Callable[[Scene], object]] = {
    "topic": lambda scene: scene.topic.name,
    "topic-id": lambda scene: scene.topic.id,
    "new-topic": lambda scene: scene.new_topic,
    "group": lambda scene: scene.group,
    "transactional-id": lambda scene: scene.transactional_id,
    "delegation-token": lambda scene: scene.token.token_id,
    "user": lambda scene: f"{USER}:{scene.token.principal_name}",
}

"""Access control lists take effect without a restart, and a restart keeps them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.bindings import EVERY_USER, Binding, create, listed, removed
from suites.protocol.support.permissions.forms import listing_code
from suites.protocol.support.principals import ordinary_user
from suites.protocol.support.rights import require_authorizer

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def _judge_changes(broker: BrokerUnderTest, topic: Topic, version: int) -> None:
    """A user gets, and loses, a right on its open connection."""
    with ordinary_user(broker) as user:
        right = Binding(topic.name, user.principal, Operation.DESCRIBE)

        def has_right() -> bool:
            return listing_code(user, topic, version) == ErrorCode.NONE

        assert not has_right(), "a new user has a right"
        assert create(broker, [right]) == [ErrorCode.NONE]
        broker.eventually(has_right, "the right has an effect")
        removed(broker, principal=user.principal)
        broker.eventually(lambda: not has_right(), "the removal has an effect")


@judges("ACL-014")
@needs_broker(Use.PERSISTENT)
def test_entries_take_effect_at_once_and_survive_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """An entry that was removed before the restart stays away."""
    broker = persistent_broker.client
    require_authorizer(broker)
    version = broker.version("ListOffsets", "1-7")
    topics = [broker.create_topic() for _ in range(3)]
    kept, gone = (Binding(each.name, EVERY_USER, Operation.DESCRIBE) for each in topics[:2])
    with requirement("ACL-014") as check:
        assert create(broker, [kept, gone]) == [ErrorCode.NONE] * 2
        assert removed(broker, name=gone.name) == [gone]
        for name, ends in (
            ("in order", persistent_broker.stop),
            ("by SIGKILL", persistent_broker.kill),
        ):
            with check.subtest(f"before an end {name}"):
                _judge_changes(broker, topics[2], version)
            ends()
            persistent_broker.start()
            for topic in topics:
                broker.await_served(topic)
            with check.subtest(f"after an end {name}"):
                assert kept in listed(broker), f"after an end {name} the entry is not described"
                assert gone not in listed(broker), f"after an end {name} a removed entry is back"
                with ordinary_user(broker) as user:
                    found = [listing_code(user, each, version) for each in topics]
                assert found == [ErrorCode.NONE, REFUSED, REFUSED], f"the codes are {found}"

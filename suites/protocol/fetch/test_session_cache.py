"""FETCH: what a broker does when it may keep no more sessions (KIP-227)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_request
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import CREATE_EPOCH
from suites.protocol.support.fetching import entry_of

SLOTS = 16  # Apache Kafka keeps sessions in eight parts, newcomers take turns (KAFKA-9401)
REPLICA_ID_IN_STATE = 15  # KIP-903
SOME_OTHER_BROKER = 77


def _opened(broker: BrokerUnderTest, topic: Topic, *partitions: int, replica_id: int = -1) -> int:
    """The id of a new session, asked for as a consumer or in the name of a broker."""
    version = broker.version("Fetch", "7+")
    request = fetch_request([entry_of(topic, version, dict.fromkeys(partitions, 0))])
    request.session_epoch = CREATE_EPOCH
    if version >= REPLICA_ID_IN_STATE:
        request.replica_state.replica_id = replica_id
    else:
        request.replica_id = replica_id
    return broker.ask(request, version).session_id


def _use(broker: BrokerUnderTest, session_id: int) -> int:
    """The error of the first incremental fetch."""
    request = fetch_request([])
    request.session_id, request.session_epoch = session_id, 1
    return broker.ask(request, broker.version("Fetch", "7+")).error_code


@judges("FETCH-037")
@needs_broker(Use.OWN, {"max.incremental.fetch.session.cache.slots": str(SLOTS)})
def test_full_session_cache_evicts_small_session_for_broker_not_for_consumer(
    broker: BrokerUnderTest,
) -> None:
    """Young sessions stay when another consumer comes; one of the smallest makes way for a broker.

    For a consumer a session goes after two minutes at the earliest, for a broker at once: no test
    has to wait.
    """
    topic = broker.create_topic(partitions=2)
    with requirement("FETCH-037"):
        large = [_opened(broker, topic, 0, 1) for _ in range(SLOTS // 2)]
        small = [_opened(broker, topic, 0) for _ in range(SLOTS // 2)]
        assert all(large + small), f"a cache with {SLOTS} slots gives {large + small}"
        late = _opened(broker, topic, 0, 1)
        assert late == 0, f"the cache is full of young sessions, a consumer gets session {late}"
        brokers_own = _opened(broker, topic, 0, replica_id=SOME_OTHER_BROKER)
        assert brokers_own, "a broker that wants a session gets none"
        for session_id in large:
            expect_error(_use(broker, session_id), ErrorCode.NONE, "one of two partitions")
        codes = [_use(broker, session_id) for session_id in small]
        names = [ErrorCode.describe(code) for code in codes]
        dropped = codes.count(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        told = f"one of {len(small)} sessions of one partition has to make way: {names}"
        assert (dropped, codes.count(ErrorCode.NONE)) == (1, len(small) - 1), told
        expect_error(_use(broker, brokers_own), ErrorCode.NONE, "the broker's session")

"""FETCH: what a broker does when it may keep no more sessions (KIP-227)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.marks import judges, own_broker
from suites.protocol.appended import append, batch_of
from suites.protocol.expect import expect_error
from suites.protocol.fetch_session import CREATE_EPOCH
from suites.protocol.fetching import entry_of

SLOTS = 8  # Apache Kafka keeps its sessions in eight parts of the same size (KAFKA-9401)
REPLICA_ID_IN_STATE = 15  # KIP-903
SOME_OTHER_BROKER = 77


def _create(broker: BrokerUnderTest, topic: Topic, replica_id: int = -1) -> FetchResponse:
    """Ask for a session, as a consumer or in the name of a broker."""
    version = broker.version("Fetch", "7+")
    request = fetch_request([entry_of(topic, version, {0: 0})])
    request.session_epoch = CREATE_EPOCH
    if version >= REPLICA_ID_IN_STATE:
        request.replica_state.replica_id = replica_id
    else:
        request.replica_id = replica_id
    return broker.ask(request, version)


def _use(broker: BrokerUnderTest, session_id: int) -> int:
    """The error of the first incremental fetch."""
    request = fetch_request([])
    request.session_id, request.session_epoch = session_id, 1
    return broker.ask(request, broker.version("Fetch", "7+")).error_code


@judges("FETCH-037")
@own_broker(max__incremental__fetch__session__cache__slots=str(SLOTS))
def test_a_full_cache_drops_a_session_for_one_that_counts_more(broker: BrokerUnderTest) -> None:
    """Young sessions stay when another consumer comes; a broker's own session takes a place.

    Consumers wait until a session has been idle or open for two minutes. For a broker no test has
    to: sessions of consumers give way to it at once, and whoever loses one is told.
    """
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"x"))
    with requirement("FETCH-037"):
        consumers = [_create(broker, topic).session_id for _ in range(SLOTS + 1)]
        told = f"{SLOTS + 1} consumers want a session of a cache with {SLOTS} slots: {consumers}"
        assert consumers[-1] == 0, told
        assert all(consumers[:-1]), told
        brokers_own = _create(broker, topic, SOME_OTHER_BROKER).session_id
        assert brokers_own, "a broker that wants a session gets none"
        codes = [_use(broker, session_id) for session_id in consumers[:-1]]
        dropped = codes.count(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        names = sorted({ErrorCode.describe(code) for code in codes})
        told = f"a ninth session came: {dropped} of eight are not found ({', '.join(names)})"
        assert dropped == 1, told
        assert codes.count(ErrorCode.NONE) == SLOTS - 1, told
        expect_error(_use(broker, brokers_own), ErrorCode.NONE, "the broker's session")

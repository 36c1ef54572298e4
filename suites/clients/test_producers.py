"""CLIENT: idempotent and transactional producers, and clients that lose a connection."""

from __future__ import annotations

from harness.clients.records import FOR_EVER, in_partition, numbered
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.faults import Faults, responses
from harness.runner.marks import client_needs, judges
from suites.clients.read_records import expect_same, expect_values
from suites.clients.stored_once import COUNT, expect_stored_once

ABORTED, COMMITTED = ["a1", "a2", "a3"], ["c1", "c2", "c3"]


@judges("CLIENT-016")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_idempotent_records_are_stored_once(client: ClientUnderTest) -> None:
    """Twenty records to one partition."""
    with requirement("CLIENT-016"):
        topic = client.create(1, FOR_EVER)
        places = client.calls.produce(topic, numbered(1, COUNT), idempotent=True)
        offsets = [offset for _, offset in places]
        assert offsets == list(range(COUNT)), f"the records have the offsets {offsets}"
        expect_stored_once(client, topic)


@judges("CLIENT-017")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_lost_acknowledgement_stores_nothing_twice(client: ClientUnderTest, faults: Faults) -> None:
    """The connection ends before the first acknowledgement."""
    topic = client.create(1, FOR_EVER)
    with requirement("CLIENT-017"):
        with faults.path(responses("Produce").first(1).named("lost").close(), leads=True) as path:
            calls = client.start_at(path.address)
            calls.produce(topic, numbered(1, COUNT), idempotent=True)
            path.expect_fired("lost")
        expect_stored_once(client, topic)


@judges("CLIENT-018")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_consumer_goes_on_behind_lost_connection(client: ClientUnderTest, faults: Faults) -> None:
    """The connection ends before the first answer to a fetch."""
    topic = client.create(1, FOR_EVER)
    with requirement("CLIENT-018"):
        records = numbered(1, COUNT)
        client.calls.produce(topic, records, idempotent=False)
        with faults.path(responses("Fetch").first(1).named("lost").close(), leads=True) as path:
            calls = client.start_at(path.address)
            found = calls.read(topic, 0, 0, COUNT)
            path.expect_fired("lost")
        expect_same(found, in_partition(records, 0), "behind the lost connection")


@judges("CLIENT-021")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", InitProducerId="0+", EndTxn="0+",
              AddPartitionsToTxn="0+", FindCoordinator="1+")  # fmt: skip
def test_committed_transaction_is_read(client: ClientUnderTest) -> None:
    """Three records."""
    with requirement("CLIENT-021"):
        topic = client.create(1, FOR_EVER)
        places = client.calls.transact(topic, topic, COMMITTED, commits=True)
        assert places == [[0, 0], [0, 1], [0, 2]], f"the records have the places {places}"
        found = client.calls.read(topic, 0, 0, len(COMMITTED), committed=True)
        expect_values(found, COMMITTED, "a read_committed consumer")


@judges("CLIENT-022")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", InitProducerId="0+", EndTxn="0+",
              AddPartitionsToTxn="0+", FindCoordinator="1+")  # fmt: skip
def test_aborted_transaction_is_not_read(client: ClientUnderTest) -> None:
    """An aborted transaction, then a committed one of the same transactional id."""
    with requirement("CLIENT-022"):
        topic = client.create(1, FOR_EVER)
        client.calls.transact(topic, topic, ABORTED, commits=False)
        client.calls.transact(topic, topic, COMMITTED, commits=True)
        found = client.calls.read(topic, 0, 0, len(COMMITTED), committed=True)
        expect_values(found, COMMITTED, "a read_committed consumer")
        both = [*ABORTED, *COMMITTED]
        found = client.calls.read(topic, 0, 0, len(both))
        expect_values(found, both, "a read_uncommitted consumer")

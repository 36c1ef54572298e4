"""CLIENT: producers on a way that fails once; the broker has each record once."""

from __future__ import annotations

from harness.clients.records import FOR_EVER, numbered
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.faults import Faults, Rule, requests, responses
from harness.runner.marks import client_needs, judges
from suites.clients.read_records import expect_values
from suites.clients.stored_once import COUNT, expect_stored_once

LATE_MS = 2000
VALUES = ["t1", "t2", "t3"]
FAULT = "fault"


def _expect_stored_behind(client: ClientUnderTest, faults: Faults, fault: Rule) -> None:
    """An idempotent producer meets the fault; its records are acknowledged and there once."""
    topic = client.create(1, FOR_EVER)
    with faults.path(fault, leads=True) as path:
        calls = client.start_at(path.address)
        calls.produce(topic, numbered(1, COUNT), idempotent=True)
        path.expect_fired(FAULT)
    expect_stored_once(client, topic)


@judges("CLIENT-032")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_producer_that_is_led_to_another_broker_stores_once(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first request gets the answer of a broker that does not lead the partition."""
    fault = requests("Produce").first(1).named(FAULT).answer_error("NOT_LEADER_OR_FOLLOWER")
    with requirement("CLIENT-032"):
        _expect_stored_behind(client, faults, fault)


@judges("CLIENT-033")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_producer_with_a_late_acknowledgement_stores_once(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first acknowledgement comes two seconds later."""
    with requirement("CLIENT-033"):
        fault = responses("Produce").first(1).named(FAULT).delay(LATE_MS)
        _expect_stored_behind(client, faults, fault)


@judges("CLIENT-034")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_producer_that_is_cut_off_within_a_request_stores_once(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The broker gets the first forty bytes, then the connection is reset."""
    with requirement("CLIENT-034"):
        fault = requests("Produce").first(1).named(FAULT).truncate(40, then="reset")
        _expect_stored_behind(client, faults, fault)


@judges("CLIENT-035")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_producer_waits_for_a_coordinator_that_loads(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first request for a producer id gets the error."""
    fault = requests("InitProducerId").first(1).named(FAULT)
    with requirement("CLIENT-035"):
        rule = fault.answer_error("COORDINATOR_LOAD_IN_PROGRESS")
        _expect_stored_behind(client, faults, rule)


@judges("CLIENT-036")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+", Metadata="0+")
def test_producer_without_its_first_metadata_stores_once(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The connection ends before the first answer to Metadata."""
    with requirement("CLIENT-036"):
        fault = responses("Metadata").first(1).named(FAULT).close()
        _expect_stored_behind(client, faults, fault)


@judges("CLIENT-037")
@client_needs(CreateTopics="0+", Produce="3+", InitProducerId="0+")
def test_producer_sends_stored_records_again_and_they_are_there_once(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The broker has stored the first batch, and the answer says too few replicas have it."""
    fault = responses("Produce").first(1).named(FAULT)
    with requirement("CLIENT-037"):
        rule = fault.fail_with("NOT_ENOUGH_REPLICAS_AFTER_APPEND")
        _expect_stored_behind(client, faults, rule)


def _expect_committed_behind(client: ClientUnderTest, faults: Faults, fault: Rule) -> None:
    """A transaction meets the fault, is committed, and its records are read once."""
    topic = client.create(1, FOR_EVER)
    with faults.path(fault, leads=True) as path:
        calls = client.start_at(path.address)
        calls.transact(topic, topic, VALUES, commits=True)
        path.expect_fired(FAULT)
    client.calls.transact(topic, f"{topic}-2", ["last"], commits=True)
    found = client.calls.read(topic, 0, 0, len(VALUES) + 1, committed=True)
    expect_values(found, [*VALUES, "last"], "a read_committed consumer")


@judges("CLIENT-038")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", InitProducerId="0+", EndTxn="0+",
              FindCoordinator="1+")  # fmt: skip
def test_commit_with_a_lost_answer_is_a_commit(client: ClientUnderTest, faults: Faults) -> None:
    """The connection ends before the first answer to EndTxn."""
    with requirement("CLIENT-038"):
        fault = responses("EndTxn").first(1).named(FAULT).close()
        _expect_committed_behind(client, faults, fault)


@judges("CLIENT-039")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", InitProducerId="0+", EndTxn="0+",
              FindCoordinator="1+")  # fmt: skip
def test_transaction_goes_on_when_its_coordinator_has_moved(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first EndTxn gets the answer of a broker that is not the coordinator."""
    with requirement("CLIENT-039"):
        fault = requests("EndTxn").first(1).named(FAULT).answer_error("NOT_COORDINATOR")
        _expect_committed_behind(client, faults, fault)


@judges("CLIENT-040")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", InitProducerId="0+", EndTxn="0+",
              FindCoordinator="1+")  # fmt: skip
def test_producer_waits_for_the_end_of_the_transaction_before(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first InitProducerId gets the answer that another transaction is not complete."""
    fault = requests("InitProducerId").first(1).named(FAULT)
    with requirement("CLIENT-040"):
        rule = fault.answer_error("CONCURRENT_TRANSACTIONS")
        _expect_committed_behind(client, faults, rule)

"""A preparation that fails inside of a check leaves it inconclusive, whatever it prepares."""

from __future__ import annotations

from harness.conformance.verdict import Verdict
from tests.runner.conftest import SmallSuite

WAYS = """
from contextlib import closing
from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.runner.refusal_judged import refusal_judged
from harness.targets.ports import free_ports
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.classic_group import ClassicGroup, sync_all
from suites.protocol.support.client_quota import client_quota
from suites.protocol.support.committed_offsets import commit, entry
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.leader_epoch import told_leader_epoch

def _join(broker):
    with closing(ClassicGroup(broker)) as group:
        group.session_ms = -1
        group.stable(None)

def _sync(broker):
    with closing(ClassicGroup(broker)) as group:
        members = group.stable(None)
        members[0].generation += 7
        sync_all(members)

def _quota(broker):
    with client_quota(broker, "c", "no_such_key", 1):
        pass

def _gone(broker):
    (port,) = free_ports(1)
    versions = {key: (one.lowest, one.highest) for key, one in broker.api_versions.items()}
    return BrokerUnderTest([("127.0.0.1", port)], versions)

ABSENT = Topic("absent")
REFUSED = {
    "create_topic": lambda broker: broker.create_topic(name=".."),
    "configs": lambda broker: broker.create_topic(configs={"retention.ms": "soon"}),
    "end_offset": lambda broker: broker.end_offset(ABSENT),
    "produce": lambda broker: append(broker, ABSENT, batch_of(b"a")),
    "delete_records": lambda broker: delete_records(broker, broker.create_topic(), 9),
    "commit": lambda broker: commit(broker, "", {ABSENT: [entry(1)]}),
    "join": _join,
    "sync": _sync,
    "quota": _quota,
    "epoch": lambda broker: told_leader_epoch(broker, ABSENT),
    "closed_create": lambda broker: _gone(broker).create_topic(),
    "closed_append": lambda broker: append(_gone(broker), ABSENT, batch_of(b"a")),
    "closed_commit": lambda broker: commit(_gone(broker), "g", {ABSENT: [entry(1)]}),
}

@judges("CONN-001")
@pytest.mark.parametrize("way", REFUSED)
def test_refused(broker, way):
    with requirement("CONN-001"):
        REFUSED[way](broker)

@judges("CONN-001")
@pytest.mark.parametrize("way", REFUSED)
def test_subtest(broker, way):
    with requirement("CONN-001") as check:
        with check.subtest("one"):
            REFUSED[way](broker)

@judges("CONN-001")
def test_judged(broker):
    with requirement("CONN-001"), refusal_judged():
        broker.create_topic(name="..")
"""
WAYS_IN_SUITE = 13


def test_failed_preparation_in_check_is_inconclusive_with_reason(suite: SmallSuite) -> None:
    ended = suite.write(WAYS).run()
    found = {
        check.case.split("::")[1]: (check.verdict, check.reason) for check in ended.journal.checks
    }
    judged = found.pop("test_judged")
    assert len(found) == 2 * WAYS_IN_SUITE
    for case, (verdict, reason) in found.items():
        assert (case, verdict) == (case, Verdict.INCONCLUSIVE)
        assert reason.startswith("PreparationFailed: "), case
        if "closed" in case:
            assert "ConnectionClosed: " in reason
    assert judged[0] is Verdict.FAILED
    assert "INVALID_TOPIC_EXCEPTION" in judged[1]

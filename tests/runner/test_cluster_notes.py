"""Actions on a cluster, and the operations of a workload, reach the run's files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.conformance.fault_journal import FAULT_LINES, FAULTS_NAME
from harness.conformance.history_journal import HISTORY_NAME
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.proxies.event import Event
from harness.runner.cluster_notes import ClusterNotes
from tests.runner.conftest import SmallSuite

SUITE = """
from harness.conformance.checks import requirement
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker

@judges("BROK-014")
@needs_broker(Use.CLUSTER, links=True)
def test_harm(cluster):
    notes = cluster.notes
    with requirement("BROK-014"):
        about = ("p", OperationOutcome.INVOKE, ClientAction.SEND, 0)
        notes.saw(ClientOperation(*about, value="1", at_ms=notes.now_ms()))
        cluster.links[2, 1].cut()
        cluster.kill(3)
        cluster.links.heal()
        cluster.restart(3)
        about = ("p", OperationOutcome.OK, ClientAction.SEND, 0, 0, "1")
        notes.saw(ClientOperation(*about, at_ms=notes.now_ms()))
"""
DONE = [
    ("cut", "2->1", "{}"),
    ("killed", None, '{"node": 3}'),
    ("healed", "2->1", "{}"),
    ("restart_begun", None, '{"node": 3}'),
    ("restart_done", None, '{"node": 3}'),
]


def test_faults_and_operations_share_clock_and_order() -> None:
    notes = ClusterNotes()
    notes.saw(
        ClientOperation(
            "p", OperationOutcome.INVOKE, ClientAction.SEND, 0, value="1", at_ms=notes.now_ms()
        )
    )
    notes.hear(Event(99_999.0, "cut", "1->2"))
    notes.hear(Event(99_999.0, "fired", "1->2"))
    notes.did("killed", 2)
    assert [event["what"] for event in notes.journal()] == ["cut", "fired", "killed"]
    assert all(event["at_ms"] < 99_999 for event in notes.journal())
    history = notes.history()
    assert [(one.action, one.value or one.detail) for one in history] == [
        (ClientAction.SEND, "1"),
        (ClientAction.FAULT, "cut 1->2"),
        (ClientAction.FAULT, "killed 2"),
    ]
    times = [one.at_ms for one in history]
    assert times == sorted(times)


def test_notes_without_workload_have_empty_history() -> None:
    notes = ClusterNotes()
    notes.did("killed", 2)
    assert (notes.history(), len(notes.journal())) == ([], 1)


@pytest.mark.rotates(8)
def test_faults_and_operations_are_written_to_run_files(tmp_path: Path) -> None:
    suite = SmallSuite(tmp_path, "reference,nodes=3")
    folder = tmp_path / "suites" / "replication" / "private"
    folder.mkdir(parents=True)
    (folder / "test_small.py").write_text(SUITE)
    ended = suite.run()
    assert ended.code == 0, ended.output
    rows = FAULT_LINES.read(ended.run_dir / FAULTS_NAME).rows
    assert [(row.what, row.link, row.detail) for row in rows] == DONE
    header, *lines = map(json.loads, (ended.run_dir / HISTORY_NAME).read_text().splitlines())
    assert (header["type"], header["history_version"], header["run"]) == ("header", 1, "run-1")
    assert {(line["type"], line["attempt"]) for line in lines} == {("operation", 1)}
    assert {line["case"].split("::")[1] for line in lines} == {"test_harm"}
    seen = [(line["process"], line["outcome"], line.get("detail", "")) for line in lines]
    faults = [
        ("nemesis", "info", " ".join(word for word in (what, link or "3") if word))
        for what, link, _ in DONE
    ]
    assert seen == [("p", "invoke", ""), *faults, ("p", "ok", "")]
    times = [line["at_ms"] for line in lines]
    assert times == sorted(times)

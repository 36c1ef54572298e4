"""Events as lines of a file."""

from __future__ import annotations

import json
from pathlib import Path

from harness.proxies.direction import Direction
from harness.proxies.event import Event
from harness.proxies.journal import ProxyJournal

EVENT = Event(1.5, "fired", "client->1", 3, Direction.UPSTREAM, 7, "late", {"action": "delay"})


def test_journal_writes_each_event_to_file_immediately(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    journal = ProxyJournal(file)
    journal(EVENT)
    assert json.loads(file.read_text()) == EVENT.to_json()
    journal(Event(2.0, "odd", detail={"value": {1, 2}}))
    journal.close()
    journal(EVENT)
    assert len(file.read_text().splitlines()) == 2
    assert journal.problem == ""


def test_journal_ends_at_size_limit_with_complete_line(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    journal = ProxyJournal(file, limit_bytes=300)
    for _ in range(100):
        journal(EVENT)
    journal.close()
    lines = file.read_text().splitlines()
    assert 0 < len(lines) < 4
    assert all(json.loads(line) == EVENT.to_json() for line in lines)
    assert journal.problem == "it would grow above 300 bytes"


def test_journal_reports_full_disk_as_problem() -> None:
    journal = ProxyJournal(Path("/dev/full"))
    journal(EVENT)
    journal(EVENT)
    journal.close()
    assert journal.problem == "No space left on device"

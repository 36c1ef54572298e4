"""The sources of requirements: a reader can open each of them."""

from __future__ import annotations

import pytest

from harness.conformance.catalogue import load_catalogue

ALSO_IN = "also in: "
FOUNDING = (
    '"Kafka replication deep dive"',
    "Kafka 0.9 documentation, Implementation",
    "Kafka 0.7 design",
    '"Kafka Internals 4.4" chapter 8',
    '"A Guide To The Kafka Protocol"',
)
"""Documents that are cited beside an authority, by their public names."""
OPEN_AREAS = {*("OFFS", "OTOP", "RAFT", "STOR", "TIME", "TOPIC")}
"""Areas with sources that still cite a document by a private name; none may be added."""
ENTRIES = load_catalogue().requirements.values()


def problem(source: str) -> str:
    """The fault of a source, empty for none."""
    if "SEED" in source:
        return "cites a document by a name that no reader knows"
    before, mark, behind = source.partition(ALSO_IN)
    if mark and not before.rstrip("; "):
        return "cites no authority beside a founding document"
    if mark and not behind.startswith(FOUNDING):
        return f"names another document behind {ALSO_IN!r}"
    return ""


def test_every_source_can_be_opened() -> None:
    assert {one.id: problem(one.source) for one in ENTRIES if problem(one.source)} == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("KIP-98", ""),
        ('KIP-98; also in: "A Guide To The Kafka Protocol" (ProducerId)', ""),
        ('SEED S4 "Heartbeat"', "no reader knows"),
        ("also in: Kafka 0.7 design", "no authority"),
        ("KIP-98; also in: a letter", "another document"),
    ],
)
def test_a_source_without_authority_is_refused(source: str, expected: str) -> None:
    assert expected in problem(source)
    assert bool(expected) == bool(problem(source))

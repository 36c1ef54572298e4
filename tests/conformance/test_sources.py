"""The sources of requirements: each piece has a form that a reader can open."""

from __future__ import annotations

import re
from typing import NamedTuple

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


class Form(NamedTuple):
    """One accepted form of a piece; a requirement needs at least one piece with authority."""

    name: str
    pattern: str
    example: str
    authority: bool = True


HEADINGS = r'"[^"]+"(, "[^"]+")*'
REMARK = r"( \([^()]+\))?"
KAFKA = r"Kafka \d+\.\d+\.\d+(\.\d+)?"
PAGE = (
    r"((broker|topic|producer|consumer) configs|configuration|design|implementation"
    r"|introduction|operations|protocol|security|wiki)"
)
ISSUE = r"(redpanda|kop)#\d+"
MEMBER = r"(?!(json|java|scala|py)\b)[A-Za-z]\w*"
DOCUMENT = f"({'|'.join(map(re.escape, FOUNDING))}){REMARK}"
FORMS = (
    Form("KIP", rf"KIP-\d+( {HEADINGS})?{REMARK}", 'KIP-631 "Controlled Shutdown"'),
    Form("Jira", rf"KAFKA-\d+{REMARK}", "KAFKA-15583 (3.7)"),
    Form(
        "documentation",
        rf"Kafka docs( \d+\.\d+(\.\d+)?)? {PAGE} {HEADINGS}{REMARK}",
        'Kafka docs 3.8 implementation "Reads", "Writes"',
    ),
    Form(
        "message definition",
        rf"{KAFKA} message definition [A-Z]\w+(, [A-Za-z][\w, ]+)?{REMARK}",
        "Kafka 4.1.0 message definition FetchRequest, field MaxBytes",
    ),
    Form(
        "class, method or test",
        rf"{KAFKA} [A-Z]\w+(\.{MEMBER}(, {MEMBER})*)?{REMARK}",
        "Kafka 0.8.2.2 LogTest.testLogRolls, testReadOutOfRange (both)",
    ),
    Form("issue", rf"{ISSUE}(, {ISSUE})*", "redpanda#3038, kop#1283", authority=False),
    Form("kfake test", r"kfake Test\w+(, Test\w+)*", "kfake TestCompactBasic", authority=False),
    Form(
        "founding documents",
        rf"{ALSO_IN}{DOCUMENT}((, | and ){DOCUMENT})*",
        'also in: Kafka 0.7 design (Log) and "A Guide To The Kafka Protocol"',
        authority=False,
    ),
)


def form_of(piece: str) -> Form | None:
    return next((form for form in FORMS if re.fullmatch(form.pattern, piece)), None)


def problem(source: str) -> str:
    """The fault of a source, empty for none."""
    pieces = source.split("; ")
    forms = {piece: form_of(piece) for piece in pieces}
    if others := [piece for piece, form in forms.items() if form is None]:
        return f"has another form: {others}"
    if any(piece.startswith(ALSO_IN) for piece in pieces[:-1]):
        return "founding documents come last"
    if not any(form.authority for form in forms.values() if form):
        return "cites no authority"
    return ""


def test_every_catalogue_source_has_accepted_form() -> None:
    entries = load_catalogue().requirements.values()
    found = {one.id: problem(one.source) for one in entries if problem(one.source)}
    assert not found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_each_example_matches_exactly_its_form(form: Form) -> None:
    assert [one.name for one in FORMS if re.fullmatch(one.pattern, form.example)] == [form.name]
    assert problem(f"KIP-98; {form.example}") == ""
    assert bool(problem(form.example)) != form.authority


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "another form"),
        ('SEED S4 "Heartbeat"', "another form"),
        ("KIP-98; src ReplicaManager.fetchOffset", "another form"),
        ("KIP-98; testReplicaDownResponse", "another form"),
        ("KIP-98; SocketServerTest.testIdleConnection", "another form"),
        ("Kafka docs producer configs acks", "another form"),
        ("Kafka 4.1.0 FetchRequest.json", "another form"),
        ("KIP-98; also in: a letter", "another form"),
        ("also in: Kafka 0.7 design", "no authority"),
        ("also in: Kafka 0.7 design; KIP-98", "come last"),
    ],
)
def test_source_of_other_form_is_rejected(source: str, expected: str) -> None:
    assert expected in problem(source)

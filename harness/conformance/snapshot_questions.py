"""The questions of a snapshot: what a target is asked to see whether it is unchanged.

Data of the catalogue, in ``snapshot/questions.toml``; values as in the table of harmless requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.conformance.harmless_requests import RequestForm, request_form
from harness.conformance.toml_entry import load_table

QUESTIONS_FILE = Path(__file__).parent / "snapshot" / "questions.toml"


class SnapshotQuestionsError(ValueError):
    """The file of questions is wrong; the message says which entry and what."""


@dataclass(frozen=True, slots=True)
class SnapshotQuestion:
    """One section of a snapshot.

    Attributes:
        section: its title, unique.
        api: the API that answers, a read.
        requests: what is asked, by version.
        leave_out: fields, at any depth, that move by themselves.
    """

    section: str
    api: str
    requests: tuple[RequestForm, ...]
    leave_out: frozenset[str]


@cache
def load_snapshot_questions(file: Path = QUESTIONS_FILE) -> tuple[SnapshotQuestion, ...]:
    """Read and check the questions. Raises SnapshotQuestionsError."""
    table = load_table(file, SnapshotQuestionsError)
    entries = table.entries("question")
    table.finish()
    questions: list[SnapshotQuestion] = []
    for entry in entries:
        question = SnapshotQuestion(
            section=entry.text("section"),
            api=entry.text("api"),
            requests=tuple(request_form(one) for one in entry.entries("request")),
            leave_out=frozenset(entry.optional_texts("leave_out")),
        )
        entry.named(question.section)
        entry.finish()
        if question.section in {one.section for one in questions}:
            raise SnapshotQuestionsError(f"{entry.where}: this section is there already")
        questions.append(question)
    return tuple(questions)

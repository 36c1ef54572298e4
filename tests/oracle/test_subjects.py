"""Each API of seeded conversations has one requirement, one test and companions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.codec.apis import APIS
from harness.conformance.catalogue import load_catalogue
from harness.differential.generator import SAFE
from harness.oracle.subjects import (
    REQUIREMENTS,
    SUBJECTS,
    WITHOUT_CONVERSATIONS,
    companions_of,
)
from harness.reference_broker.handlers.table import HANDLERS
from harness.sweep.requests import safety_of

TESTS = Path(__file__).resolve().parents[2] / "suites/protocol/specification"


def _served() -> Iterator[str]:
    for key in HANDLERS:
        if safety_of(APIS[key].name) in SAFE:
            yield APIS[key].name


def test_every_served_api_that_is_safe_has_conversations_or_is_named_as_without() -> None:
    assert sorted([*SUBJECTS, *WITHOUT_CONVERSATIONS]) == sorted(_served())


def test_requirement_of_each_api_names_it() -> None:
    catalogue = load_catalogue()
    for api, requirement in REQUIREMENTS.items():
        assert f" {api} responses " in catalogue.requirement(requirement).statement


def test_test_of_each_api_judges_its_requirement() -> None:
    text = "".join(file.read_text("utf-8") for file in sorted(TESTS.glob("test_*.py")))
    for api, requirement in REQUIREMENTS.items():
        test = text.partition(f'@judges("{requirement}")\n')[2].partition("\n\n")[0]
        assert f'judge.conversations("{api}")' in test


def test_companions_are_other_subjects() -> None:
    for api in SUBJECTS:
        companions = companions_of(api)
        assert companions
        assert api not in companions
        assert set(companions) <= set(SUBJECTS)

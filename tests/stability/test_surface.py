"""docs/stability.md holds: nothing that the last release promised is gone or has another value."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.stability.surface import FILE, gone, surface


def last_release() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def test_everything_that_the_last_release_promised_is_there() -> None:
    assert not list(gone(last_release(), surface()))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda now: now["requirements"].remove("PROD-011"), "requirements: PROD-011"),
        (lambda now: now["options"].pop("run"), "options: run"),
        (lambda now: now["options"]["gate"].remove("--strict"), "options: gate: --strict"),
        (
            lambda now: now["exit codes of gate"].update(EXPIRED=7),
            "exit codes of gate: EXPIRED: was 6, is 7",
        ),
        (lambda now: now["columns"]["results"].pop("verdict"), "columns: results: verdict"),
        (
            lambda now: now["columns"]["results"].update(attempt="int64"),
            "columns: results: attempt: was int32, is int64",
        ),
        (
            lambda now: now["fixtures"].remove("kafka_conformance_broker"),
            "fixtures: kafka_conformance_broker",
        ),
        (lambda now: now.update(verdicts={}), "verdicts: harness_error"),
    ],
)
def test_each_loss_is_named(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    now = copy.deepcopy(last_release())
    change(now)
    assert said in list(gone(last_release(), now))


def test_what_is_new_is_no_loss() -> None:
    now = copy.deepcopy(last_release())
    now["requirements"].append("NONE-001")
    now["options"]["new"] = ["--out"]
    assert not list(gone(last_release(), now))

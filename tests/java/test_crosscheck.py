"""Our codec and the official classes agree on every message that either of two releases has."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.codec import encode
from harness.codec.apis import APIS
from harness.codec.messages import MetadataRequest
from harness.java import JavaError
from harness.targets.pinned_file import DownloadError
from tests.java.crosscheck import OTHER_LAYOUT, Count, Sent, compare, crosscheck
from tests.java.java_form import java_form
from tests.java.maven import MavenError
from tests.java.random_messages import random_message
from tests.targets.kinds import not_run

MESSAGES = 20
LAYOUTS = {"3.9.2": 628, "4.4.0": 618}  # of requests and responses, all versions


@pytest.mark.kafka
@pytest.mark.parametrize("release", LAYOUTS)
def test_equal_values_and_identical_bytes(release: str) -> None:
    try:
        count = crosscheck(release, list(APIS.values()), MESSAGES, seed=1)
    except (JavaError, DownloadError, MavenError) as problem:
        not_run(str(problem))
        return
    assert count.problems == []
    assert len(count.layouts) == LAYOUTS[release]
    assert count.messages == MESSAGES * LAYOUTS[release]
    assert count.from_json > count.messages / 2


def _sent() -> Sent:
    message = random_message(random.Random(3), MetadataRequest, 12)
    return Sent(message, 12, encode(message, 12), java_form(MetadataRequest, message, 12))


def _answer(sent: Sent, **changes: Any) -> dict[str, Any]:
    same = {"remaining": 0, "hex": sent.raw.hex(), "value": sent.value, "from_json": sent.raw.hex()}
    return {**same, **changes}


def test_an_equal_answer_is_no_problem() -> None:
    count = Count()
    compare(_sent(), _answer(_sent()), count)
    assert (count.messages, count.problems) == (1, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"remaining": 1},
        {"hex": "00"},
        {"value": {}},
        {"from_json": "00"},
        {"error": "java.nio.BufferUnderflowException"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_each_difference_is_a_problem(changes: dict[str, Any]) -> None:
    count = Count()
    compare(_sent(), _answer(_sent(), **changes), count)
    assert len(count.problems) == 1
    assert count.problems[0].startswith("MetadataRequest v12: ")


def test_what_is_left_out_exists() -> None:
    assert {name for _, name in OTHER_LAYOUT} <= {api.name for api in APIS.values()}

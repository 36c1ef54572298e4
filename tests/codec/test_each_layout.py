"""A loop over layouts hides no failure; which layouts are due follows from what changed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.codec.structs import Message
from labs.message_values.values import CLASSES, class_name
from tests.codec import checked_layouts
from tests.codec.checked_layouts import CODE, ONE_IN, due, due_names, hashes
from tests.codec.each_layout import check_each, each_class, each_of, each_version

NAMES = frozenset(map(class_name, CLASSES))


def test_failed_case_is_named_and_loop_continues(request: pytest.FixtureRequest) -> None:
    seen: list[tuple[str, int]] = []

    def check(cls: type[Message], version: int) -> None:
        seen.append((class_name(cls), version))
        assert cls.__name__ != "FetchResponse" or version != 12, "a reason"
        if (cls.__name__, version) == ("MetadataRequest", 4):
            with pytest.raises(ValueError, match="x"):
                pass

    with pytest.raises(AssertionError) as caught:
        each_version(check)(request)
    assert len(seen) == len(set(seen)) == sum(len([*cls.message_spec.valid]) for cls in CLASSES)
    first, *lines = str(caught.value).splitlines()
    assert first == f"{len(lines)} of {len(seen)} cases failed:"
    said = dict(line.strip().split(": ", 1) for line in lines)
    assert said == {
        "FetchResponse v12": "AssertionError: a reason",
        "FetchResponse@2.7 v12": "AssertionError: a reason",
        "MetadataRequest v4": "Failed: DID NOT RAISE ValueError",
    }
    assert str(caught.value.__cause__).startswith("a reason")


def test_loop_checks_every_class_and_value(request: pytest.FixtureRequest) -> None:
    classes: list[type[Message]] = []
    each_class(classes.append)(request)
    assert classes == CLASSES
    values: list[int] = []
    each_of({"one": 1, "two": 2})(values.append)(request)
    assert values == [1, 2]


def test_loop_without_cases_raises_assertion_error() -> None:
    with pytest.raises(AssertionError, match="no case to check"):
        check_each([])


def _changed(name: str) -> dict[str, str]:
    return {**hashes(), name: "another"}


def test_changed_code_makes_every_layout_due() -> None:
    assert due_names(hashes(), _changed(CODE), "") == NAMES
    assert due_names(hashes(), {}, "") == NAMES


@pytest.mark.parametrize("name", ["FetchRequest", "FetchResponse@2.7", "AllKinds"])
def test_changed_or_unrecorded_layout_is_due(name: str) -> None:
    drawn = due_names(hashes(), hashes(), "a")
    assert due_names(hashes(), _changed(name), "a") == drawn | {name}
    unknown = {key: digest for key, digest in hashes().items() if key != name}
    assert due_names(hashes(), unknown, "a") == drawn | {name}


def test_hashes_cover_every_layout_and_differ_by_definition() -> None:
    digests = hashes()
    assert digests.keys() == NAMES | {CODE}
    assert digests["FetchResponse"] != digests["FetchResponse@2.7"]
    assert all(path.exists() for path in checked_layouts.SOURCES)


def test_draws_of_many_commits_cover_every_layout() -> None:
    same = hashes()
    draws = [due_names(same, same, f"commit {number}") for number in range(24 * ONE_IN)]
    assert draws[0] != draws[1]
    assert due_names(same, same, "commit 0") == draws[0]
    assert all(0 < len(drawn) < 3 * len(NAMES) // ONE_IN for drawn in draws)
    assert set().union(*draws) == NAMES


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_layouts, "FILE", tmp_path / "checked.tsv")
    assert checked_layouts.read() == {}
    checked_layouts.write(hashes())


def test_written_hashes_are_read_back(recorded: None) -> None:
    assert checked_layouts.read() == hashes()


A_TEST = "test_decode_of_every_truncated_message_raises_decode_error"


@pytest.mark.parametrize(
    ("deep", "arguments", "everything"),
    [
        (False, ["tests"], False),
        (False, ["tests", "tests/codec/test_agreement.py"], False),
        (False, [f"tests/codec/test_agreement.py::{A_TEST}"], True),
        (True, ["tests"], True),
    ],
)
def test_all_layouts_are_due_at_depth_and_for_named_test(
    recorded: None, deep: bool, arguments: list[str], everything: bool
) -> None:
    def getoption(name: str, default: object = None) -> object:
        return {"deep": deep, "draw": "a"}[name]

    config: Any = SimpleNamespace(getoption=getoption, args=arguments)
    found = set(map(class_name, due(config)))
    assert found == (NAMES if everything else due_names(hashes(), hashes(), "a"))

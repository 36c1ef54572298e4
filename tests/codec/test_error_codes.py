"""The table of error codes is whole, and the command shows it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.codec.error_code import ErrorCode
from harness.codec.error_details import error_details, find_error

# The highest code of a release, as class Errors in the jars of all releases has it.
HIGHEST = {
    "0.7": 4,
    "0.8.0": 11,
    "0.8.2": 20,
    "0.9": 31,
    "0.10.0": 35,
    "0.11": 55,
    "1.1": 71,
    "2.3": 82,
    "2.4": 87,
    "2.8": 104,
    "3.0": 105,
    "3.3": 108,
    "3.5": 112,
    "3.7": 119,
    "3.9": 127,
    "4.0": 129,
    "4.3": 133,
    "4.4": 136,
}


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def test_every_code_has_its_row() -> None:
    assert [(one.code, one.name) for one in error_details().values()] == [
        (code.value, code.name) for code in ErrorCode
    ]
    assert len(ErrorCode) == 138
    assert all(one.meaning.endswith(".") for one in error_details().values())
    assert len({one.meaning for one in error_details().values()}) == 138


@pytest.mark.parametrize("release", HIGHEST)
def test_known_codes_of_release_end_at_its_highest_code(release: str) -> None:
    known = [
        one.code
        for one in error_details().values()
        if _numbers(one.first_release) <= _numbers(release)
    ]
    assert known == list(range(-1, HIGHEST[release] + 1))


def test_32_error_codes_are_retriable() -> None:
    assert sum(code.retriable for code in ErrorCode) == 32
    assert ErrorCode.NOT_CONTROLLER.retriable
    assert not ErrorCode.NONE.retriable


@pytest.mark.parametrize("word", ["6", "NOT_LEADER_OR_FOLLOWER", "not_leader_for_partition"])
def test_find_error_accepts_number_name_and_former_name(word: str) -> None:
    found = find_error(word)
    assert found is not None
    assert found.code == 6
    assert found == ErrorCode.NOT_LEADER_OR_FOLLOWER.details


def _shown(*words: str) -> str:
    done = CliRunner().invoke(main, ["codec", "errors", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_errors_command_prints_all_codes_or_given_code() -> None:
    assert len(_shown().splitlines()) == 138
    line = _shown("-1")
    assert line.split()[:4] == ["-1", "UNKNOWN_SERVER_ERROR", "-", "0.7"]
    assert "a way that it has no code for. Formerly UNKNOWN (0.8.2-0.11)." in line
    assert json.loads(_shown("87", "--json")) == [
        {
            "code": 87,
            "name": "INVALID_RECORD",
            "retriable": False,
            "first_release": "2.4",
            "former_names": [],
            "meaning": "The broker refuses the records: their fields break a rule.",
        }
    ]
    assert [one["code"] for one in json.loads(_shown("--json"))] == list(range(-1, 137))


def test_errors_command_with_unknown_code_exits_2() -> None:
    done = CliRunner().invoke(main, ["codec", "errors", "137"])
    assert done.exit_code == 2
    assert "codes go from -1 to 136" in done.output

"""The file of what was observed: its form, and that the one beside the catalogue is true to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.catalogue import Requirement, load_catalogue
from harness.conformance.dated import UNDATED, why_not_promised
from harness.conformance.kafka_name import MODES, kafka_name
from harness.conformance.observed import (
    OBSERVED_FILE,
    ObservedError,
    ObservedFile,
    ObservedState,
    read_observed,
    the_observed,
    write_observed,
)
from harness.targets.artifacts import pinned_releases
from harness.targets.kafka.target import KafkaTarget

COLUMNS = (
    ("0.10.0.1", "zk"),
    ("2.8.2", "zk"),
    ("2.8.2", "kraft"),
    ("3.9.2", "kraft"),
    ("4.4.0", "kraft"),
)
P, F, N = ObservedState.PASSED, ObservedState.FAILED, ObservedState.NOT_SUPPORTED
HEAD = "# suite 0.1.0\n# catalogue 2026.1\n# releases 0.8.0/zk 2.8.2/zk 2.8.2/kraft\n"
COLUMN_LINE = "requirement\tpassed\tfailed\tnot_supported\n"


def observed(*letters: ObservedState | None) -> ObservedFile:
    states = {at: said for at, said in zip(COLUMNS, letters, strict=True) if said is not None}
    return ObservedFile(
        suites=("0.1.0",), catalogues=("2026.1",), columns=COLUMNS, states={"PROD-011": states}
    )


@pytest.mark.parametrize(
    ("letters", "wanted"),
    [
        ((P, P, P, P, P), {"passed": "0.10.0.1..4.4.0"}),
        ((N, N, P, P, P), {"passed": "2.8.2/kraft 3.9.2..4.4.0",
                           "not_supported": "0.10.0.1 2.8.2/zk"}),
        ((P, None, None, P, F), {"passed": "0.10.0.1 3.9.2", "failed": "4.4.0"}),
        ((None, P, P, None, None), {"passed": "2.8.2"}),
        ((None, None, None, None, None), {}),
    ],
)  # fmt: skip
def test_words_joins_releases_of_same_state_into_ranges(
    letters: tuple[ObservedState | None, ...], wanted: dict[str, str]
) -> None:
    assert observed(*letters).words("PROD-011") == wanted
    assert observed(*letters).words("PROD-012") == {}


@given(st.lists(st.sampled_from([P, F, N, None]), min_size=5, max_size=5))
def test_observed_file_round_trips(
    tmp_path_factory: pytest.TempPathFactory, letters: list[ObservedState | None]
) -> None:
    path = tmp_path_factory.mktemp("observed") / "observed.tsv"
    made = observed(*letters)
    write_observed(made, path)
    again = read_observed(path)
    assert (again.columns, again.suites, again.catalogues) == (COLUMNS, ("0.1.0",), ("2026.1",))
    assert again.states.get("PROD-011", {}) == made.states["PROD-011"]


def test_write_observed_writes_one_line_per_requirement(tmp_path: Path) -> None:
    path = tmp_path / "observed.tsv"
    write_observed(observed(N, P, P, P, F), path)
    assert path.read_text().splitlines()[2:] == [
        "# releases 0.10.0.1/zk 2.8.2/zk 2.8.2/kraft 3.9.2/kraft 4.4.0/kraft",
        "requirement\tpassed\tfailed\tnot_supported",
        "PROD-011\t2.8.2..3.9.2\t4.4.0\t0.10.0.1",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'line 1 does not begin with "# suite"'),
        ("# suite 0.1.0\n# catalogue 2026.1\n", 'line 3 does not begin with "# releases"'),
        (HEAD, "line 4 is not the head"),
        (HEAD.replace("0.8.0/zk", "0.8.0") + COLUMN_LINE, '"0.8.0" is no RELEASE/MODE'),
        (HEAD + COLUMN_LINE + "PROD-011\t0.8.0\n", "has not 4 columns"),
        (HEAD + COLUMN_LINE + "PROD-011\t0.8.0\t-\t-\n" * 2, "or is there twice"),
        (HEAD + COLUMN_LINE + "PROD-011\t0.8.0\t0.8.0\t-\n", "0.8.0/zk is there twice"),
        (HEAD + COLUMN_LINE + "PROD-011\t0.9.0.1\t-\t-\n", '"0.9.0.1" is none of the releases'),
        (HEAD + COLUMN_LINE + "PROD-011\t2.8.2..0.8.0\t-\t-\n", '"2.8.2..0.8.0" is none of'),
        (HEAD + COLUMN_LINE + "PROD-011\t0.8.0..\t-\t-\n", '"0.8.0.." is none of'),
        (HEAD + COLUMN_LINE + "PROD-011\t0.8.0/kraft\t-\t-\n", '"0.8.0/kraft" is none of'),
    ],
)
def test_invalid_observed_file_raises_observed_error(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "observed.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(ObservedError) as caught:
        read_observed(path)
    assert said in str(caught.value)
    assert "observed.tsv" in str(caught.value)


def test_default_mode_of_kafka_name_equals_mode_of_target() -> None:
    for release in pinned_releases():
        name = kafka_name(f"kafka:{release}")
        assert name is not None
        assert name.mode == KafkaTarget(release).mode.value


# -- the file beside the catalogue -----------------------------------------------------------------


def test_committed_file_contains_only_known_requirements_and_releases() -> None:
    found = read_observed(OBSERVED_FILE)
    assert set(found.states) - set(load_catalogue().requirements) == set()
    assert {release for release, _ in found.columns} - set(pinned_releases()) == set()
    assert {mode for _, mode in found.columns} - set(MODES) == set()
    assert found.catalogues == (load_catalogue().version,)
    in_catalogue = [name for name in load_catalogue().requirements if name in found.states]
    assert list(found.states) == in_catalogue


def test_committed_file_equals_rewritten_file(tmp_path: Path) -> None:
    path = tmp_path / "observed.tsv"
    write_observed(the_observed(), path)
    assert path.read_text("utf-8") == OBSERVED_FILE.read_text("utf-8")


def undated_passes(requirement: Requirement, found: ObservedFile) -> list[str]:
    """Where it was seen to hold although its dates do not promise it, or not to be there although
    they do.
    """
    return [
        f"{requirement.id} ({requirement.since}, {requirement.until}): {state.name} on {release}"
        for (release, _), state in found.states.get(requirement.id, {}).items()
        if state is not ObservedState.FAILED
        and (state is ObservedState.PASSED) != (why_not_promised(requirement, release) is None)
    ]


def test_catalogue_dates_agree_with_observed_states() -> None:
    dated = [r for r in load_catalogue().requirements.values() if r.since != UNDATED]
    wrong = [line for r in dated if not r.since_note for line in undated_passes(r, the_observed())]
    assert wrong == []

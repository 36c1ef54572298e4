import re
from pathlib import Path

import pytest

from harness.conformance.catalogue import (
    NEEDS,
    REQUIREMENTS_FOLDER,
    CatalogueError,
    UnknownRequirementError,
    load_catalogue,
)

ENTRY = {
    "id": '"AB-001"',
    "level": '"MUST"',
    "statement": '"It holds"',
    "source": '"KIP-1"',
    "since": '"0.11"',
    "observe": '"look"',
    "needs": '["1B"]',
}


def a_catalogue(folder: Path, *entries: dict[str, str], head: str = 'area = "AB"') -> Path:
    (folder / "catalogue.toml").write_text('version = "2026.1"\nmeaning = "m"\nareas = ["AB"]\n')
    body = [head, 'title = "A and B"']
    for entry in entries or (ENTRY,):
        body += ["[[requirement]]", *(f"{key} = {value}" for key, value in entry.items())]
    (folder / "AB.toml").write_text("\n".join(body))
    return folder


def test_catalogue_has_expected_counts_and_order() -> None:
    catalogue = load_catalogue()
    assert len(catalogue.requirements) == 1294
    assert len(catalogue.areas) == 46
    levels = [one.level for one in catalogue.requirements.values()]
    assert [levels.count(level) for level in ("MUST", "SHOULD", "MAY")] == [1200, 88, 6]
    assert re.fullmatch(r"\d{4}\.\d+", catalogue.version)
    listed = [name for area in catalogue.areas.values() for name in area.requirements]
    assert listed == list(catalogue.requirements)


def test_every_requirement_has_statement_source_observe_and_known_needs() -> None:
    for one in load_catalogue().requirements.values():
        assert one.id.startswith(f"{one.area}-")
        assert one.statement
        assert one.source
        assert one.observe
        assert one.needs <= NEEDS.keys()


def test_requirement_files_contain_no_local_paths() -> None:
    for path in REQUIREMENTS_FOLDER.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(work|root|home|tmp)/|\.(md|tsv|html|txt)\b", text), path.name


def test_requirement_ranges_of_releases_and_versions_are_parsed() -> None:
    requirements = load_catalogue().requirements
    fetch = requirements["FETCH-014"]
    assert (fetch.since, fetch.until) == ("0.8", "3.x")
    assert (fetch.since_version, fetch.until_version) == (0, 2)
    assert requirements["GRP-033"].since_note == "2.6 / v4, 3.8 / v5"
    assert requirements["PROD-011"].until is None


def test_unknown_id_error_suggests_nearest_id() -> None:
    with pytest.raises(UnknownRequirementError, match=r'"PROD-11".*mean "PROD-011"'):
        load_catalogue().requirement("PROD-11")


def test_catalogue_and_requirements_are_immutable() -> None:
    catalogue = load_catalogue()
    with pytest.raises(TypeError):
        catalogue.requirements["X"] = catalogue.requirements["PROD-011"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        catalogue.requirements["PROD-011"].level = "MAY"  # type: ignore[misc]


def test_corrected_requirement_keeps_old_statement(tmp_path: Path) -> None:
    correction = {
        "was": '["It held"]',
        "corrected_by": '"KIP-2"',
        "seen_on": '["3.9.2", "4.4.0"]',
        "not_judged": '"needs a disk that lies"',
    }
    one = load_catalogue(a_catalogue(tmp_path, {**ENTRY, **correction})).requirement("AB-001")
    assert one.was == ("It held",)
    assert one.seen_on == ("3.9.2", "4.4.0")
    assert one.not_judged == "needs a disk that lies"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": '"AB-1"'}, r"AB.toml: requirement number 1: id: .*form"),
        ({"id": '"CD-001"'}, r"\(CD-001\): id: does not belong to area AB"),
        ({"level": '"MUSTN"'}, r"\(AB-001\): level: .*none of MUST, SHOULD, MAY"),
        ({"statement": '" "'}, r"statement: ' ' is not a non-empty string"),
        ({"source": "1"}, r"source: 1 is not"),
        ({"since": '"eleven"'}, r"since: .*form"),
        ({"until": '"4"'}, r"until: .*form"),
        ({"since_version": '"v1"'}, r"since_version: 'v1' is not an API version"),
        ({"since_version": "true"}, r"since_version: True is not an API version"),
        ({"needs": '["1B", "1B"]'}, r'needs: "1B" occurs twice'),
        ({"needs": '["2B"]'}, r'needs: "2B" is none of'),
        ({"needs": "[]"}, r"needs: is missing or empty"),
        ({"needs": '"1B"'}, r"needs: is not a list"),
        ({"untill": '"3.x"'}, r'\(AB-001\): untill: unknown key - did you mean "until"'),
        ({"was": '["It held"]'}, r"a correction needs was, corrected_by and seen_on together"),
        (
            {"was": '["It held"]', "corrected_by": '"KIP-2"', "seen_on": '["4.4.0"]'},
            r"seen_on: a correction is seen on two releases",
        ),
        (
            {"was": '["It holds"]', "corrected_by": '"K"', "seen_on": '["4.4.0", "3.9.2"]'},
            r"was: holds the present statement",
        ),
    ],
)
def test_invalid_entry_raises_catalogue_error_with_key(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    with pytest.raises(CatalogueError, match=message):
        load_catalogue(a_catalogue(tmp_path, {**ENTRY, **change}))


@pytest.mark.parametrize("key", list(ENTRY))
def test_missing_key_raises_catalogue_error_with_key(tmp_path: Path, key: str) -> None:
    entry = {name: value for name, value in ENTRY.items() if name != key}
    with pytest.raises(CatalogueError, match=f"{key}: is missing"):
        load_catalogue(a_catalogue(tmp_path, entry))


def test_misspelt_key_error_suggests_it_for_missing_key(tmp_path: Path) -> None:
    entry = {("statment" if key == "statement" else key): v for key, v in ENTRY.items()}
    with pytest.raises(CatalogueError, match='statement: is missing - did you mean "statment"'):
        load_catalogue(a_catalogue(tmp_path, entry))


def test_duplicate_id_raises_catalogue_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"number 2 \(AB-001\): id AB-001 occurs twice"):
        load_catalogue(a_catalogue(tmp_path, ENTRY, ENTRY))


def test_unlisted_or_missing_area_file_raises_catalogue_error(tmp_path: Path) -> None:
    a_catalogue(tmp_path)
    (tmp_path / "CD.toml").write_text("")
    with pytest.raises(CatalogueError, match=r"CD\.toml stands beside it but is not listed"):
        load_catalogue(tmp_path)
    (tmp_path / "CD.toml").unlink()
    (tmp_path / "AB.toml").unlink()
    with pytest.raises(CatalogueError, match=r"AB\.toml does not exist"):
        load_catalogue(tmp_path)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ('area = "XY"', r'area: must be "AB"'),
        ("area = ", r"AB\.toml: is not TOML"),
        ('area = "AB"\nrequirements = 1', r"requirements: unknown key - did you mean"),
        ('area = "AB"\nrequirement = 3', r"is not TOML|not an array of tables"),
    ],
)
def test_invalid_area_file_raises_catalogue_error(tmp_path: Path, head: str, message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        load_catalogue(a_catalogue(tmp_path, head=head))


def test_missing_catalogue_file_raises_catalogue_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"catalogue\.toml: cannot be read"):
        load_catalogue(tmp_path)

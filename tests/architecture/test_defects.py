"""Every file of defects is in the table, and every defect once."""

from __future__ import annotations

import re
from collections import Counter

from harness.conformance.catalogue import load_catalogue
from tests.architecture.test_tidy import ROOT
from tests.ci import PARTS
from tests.defects.all_defects import ALL_DEFECTS
from tests.defects.seen_on import KAFKA_ALONE, REFERENCE, SHOWN


def test_every_defect_is_there_once() -> None:
    """A run is kept under the defect's name: two of one name would write into each other."""
    twice = [name for name, count in Counter(d.name for d in ALL_DEFECTS).items() if count > 1]
    assert twice == []


def test_every_file_of_defects_is_in_the_table() -> None:
    tables = ("all_defects.py", "wrong_storage.py")
    table = "".join((ROOT / "tests" / "defects" / each).read_text("utf-8") for each in tables)
    files = (ROOT / "tests" / "defects").glob("*.py")
    lists = [file.stem for file in files if "\nDEFECTS = [" in file.read_text("utf-8")]
    assert len(lists) > 20
    assert [name for name in lists if f"*{name}.DEFECTS" not in table] == []


def test_every_judged_must_has_a_defect() -> None:
    judged = {
        name
        for file in (ROOT / "suites").rglob("*.py")
        for marked in re.findall(r"^@judges\(([^)]*)\)", file.read_text("utf-8"), re.MULTILINE)
        for name in re.findall(r'"([^"]+)"', marked)
    }
    catalogue = load_catalogue()
    musts = {name for name in judged if catalogue.requirement(name).level == "MUST"}
    assert len(musts) > 400
    assert sorted(musts - {defect.requirement for defect in ALL_DEFECTS}) == []


def test_every_defect_is_shown_by_a_target_of_ci() -> None:
    shown = {one.name for one in ALL_DEFECTS for shows in SHOWN.values() if shows(one)}
    assert {one.name for one in ALL_DEFECTS} - shown == {*KAFKA_ALONE}
    words = {word for commands in PARTS.values() for command in commands for word in command}
    assert words >= SHOWN.keys()


def test_what_ci_only_samples_is_proved_without() -> None:
    """Of the built-in broker's wrong functions CI runs some: what they prove, others prove too."""
    wire = {one.requirement for one in ALL_DEFECTS if not one.built_in and SHOWN[REFERENCE](one)}
    catalogue = load_catalogue()
    sampled = {one.requirement for one in ALL_DEFECTS if one.built_in and not one.cluster}
    musts = {name for name in sampled if catalogue.requirement(name).level == "MUST"}
    assert len(musts) > 10
    assert musts - wire == set()

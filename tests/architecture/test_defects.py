"""Every file of defects is in the table, and every defect once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from importlib import import_module

from checks.deep_parts import DEEP
from checks.draw import Draw
from checks.gate_parts import GATE
from checks.named_slices import named_slices
from checks.part import Part
from harness.conformance.catalogue import BY_HARNESS, load_catalogue
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.seen_on import KAFKA_ALONE, REFERENCE, SHOWN, shown_by_any
from tests.architecture.test_tidy import ROOT


def test_defect_names_are_unique() -> None:
    """A run is kept under the defect's name: two of one name would write into each other."""
    twice = [name for name, count in Counter(d.name for d in ALL_DEFECTS).items() if count > 1]
    assert twice == []


def test_every_wrong_function_replaces_existing_function() -> None:
    absent = []
    for defect in ALL_DEFECTS:
        if defect.wrong is None:
            continue
        holder: object = import_module(defect.wrong.module)
        for name in defect.wrong.name.split("."):
            holder = getattr(holder, name, None)
        absent += [f"{defect.wrong.module}.{defect.wrong.name}"] if holder is None else []
    assert absent == []


def test_every_defect_file_is_in_table() -> None:
    tables = ("all_defects.py", "wrong_storage.py")
    table = "".join((ROOT / "labs" / "defects" / each).read_text("utf-8") for each in tables)
    files = (ROOT / "labs" / "defects").glob("*.py")
    lists = [file.stem for file in files if "\nDEFECTS = [" in file.read_text("utf-8")]
    assert len(lists) > 20
    assert [name for name in lists if f"*{name}.DEFECTS" not in table] == []


def test_every_judged_must_has_defect() -> None:
    judged = {
        name
        for file in (ROOT / "suites").rglob("*.py")
        for marked in re.findall(r"^@judges\(([^)]*)\)", file.read_text("utf-8"), re.MULTILINE)
        for name in re.findall(r'"([^"]+)"', marked)
    }
    catalogue = load_catalogue()
    by_requests = {
        name
        for area in catalogue.areas.values()
        if area.asked_by == BY_HARNESS  # the others have rows in labs/client_defects
        for name in area.requirements
    }
    musts = {n for n in judged & by_requests if catalogue.requirement(n).level == "MUST"}
    assert len(musts) > 400
    assert sorted(musts - {defect.requirement for defect in ALL_DEFECTS}) == []


def targets_of(*tables: Sequence[Part]) -> set[str]:
    """The targets of all defect tables that these parts run."""
    found = set()
    for one in (one for parts in tables for one in named_slices(parts, ())):
        for words in (line.words for line in one.commands(Draw("any"), "out")):
            if "labs.defects" in words:
                found.add(words[words.index("--target") + 1])
    return found


def test_every_defect_is_shown_by_target_of_checks() -> None:
    shown = {one.name for one in ALL_DEFECTS if shown_by_any(one)}
    assert {one.name for one in ALL_DEFECTS} - shown == {*KAFKA_ALONE}
    assert targets_of(GATE, DEEP) >= SHOWN.keys()


def test_gate_includes_each_built_in_defect_target() -> None:
    ours = {spec for spec in SHOWN if spec.startswith(REFERENCE)}
    assert len(ours) == 10
    assert targets_of(GATE) >= ours


def test_musts_with_wrong_functions_also_have_wire_defects() -> None:
    """The wire proves the same requirements too, where any broker can show them."""
    wire = {one.requirement for one in ALL_DEFECTS if not one.built_in and SHOWN[REFERENCE](one)}
    catalogue = load_catalogue()
    built_in = {one.requirement for one in ALL_DEFECTS if one.built_in and not one.cluster}
    musts = {name for name in built_in if catalogue.requirement(name).level == "MUST"}
    assert len(musts) > 10
    assert musts - wire == set()

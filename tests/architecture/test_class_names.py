"""A name of a class stands for one thing: no two public classes have the same."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.architecture.test_tidy import ROOT, tracked
from tests.parsed_source import parsed


def test_public_class_names_are_unique() -> None:
    places = defaultdict(list)
    for file in tracked("*.py"):
        place = file.relative_to(ROOT)
        if place.parts[0] == "tests":
            continue
        for node in parsed(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(place))
    assert len(places) > 1000
    assert {name: where for name, where in places.items() if len(where) > 1} == {}

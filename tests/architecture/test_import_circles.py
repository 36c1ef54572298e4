"""No module is part of a circle of imports that run at its start; the others have a reason here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.import_circles import Place, circles, imports_of, modules_of
from tests.architecture.test_contracts import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
CLIENT, CODEC, TARGETS = "harness.client", "harness.codec", "harness.targets"
REASONS = {
    frozenset({f"{CODEC}.layout", f"{CODEC}.specs"}): "a message spec keeps its layouts",
    frozenset(
        f"{CODEC}.{one}"
        for one in ("docstring", "generate_constructor", "generate_default", "structs")
    ): "a class of a message generates its constructor and docstring on first use",
    frozenset({f"{CODEC}.generate_decoder", f"{CODEC}.generate_decoder_tags"}): (
        "tagged fields contain structs, and structs contain tagged fields"
    ),
    frozenset({f"{CODEC}.generate_encoder", f"{CODEC}.generate_encoder_tags"}): (
        "tagged fields contain structs, and structs contain tagged fields"
    ),
    frozenset({f"{CODEC}.records_text", f"{CODEC}.trace_text"}): (
        "the text of a message contains records, and their user data contain messages"
    ),
    frozenset(
        f"{CLIENT}.{one}"
        for one in ("broker", "cluster", "cluster_topics", "coordinator", "deletion", "new_topic")
    ): "the broker under test is a front of these, and each receives it as an argument",
    frozenset({f"{TARGETS}.command_file", f"{TARGETS}.obtain"}): (
        "a file names the sources of a broker, and one kind of source is read from such a file"
    ),
    frozenset({f"{TARGETS}.kafka.target", f"{TARGETS}.linked"}): (
        "a target makes its own variants by options"
    ),
    frozenset(
        f"{TARGETS}.{one}" for one in ("linked_reference", "reference", "reference_cluster")
    ): "a target makes its own variants by options",
    frozenset(
        f"harness.reference_broker.storage.{one}" for one in ("stored_compaction", "stored_log")
    ): "a log starts its compaction, which works on that log",
    frozenset(
        {"reports.aggregate", "reports.given"}
    ): "views of given files use the paths of Spark",
}
"""Circles that only imports inside functions or under TYPE_CHECKING close."""


@pytest.fixture(scope="module")
def imports() -> dict[str, frozenset[tuple[str, Place]]]:
    return dict(imports_of(modules_of(ROOT, PACKAGES)))


def test_no_import_cycle_at_module_level(
    imports: dict[str, frozenset[tuple[str, Place]]],
) -> None:
    assert circles(imports, {Place.MODULE}) == []


def test_every_other_import_cycle_has_reason(
    imports: dict[str, frozenset[tuple[str, Place]]],
) -> None:
    assert set(circles(imports, set(Place))) == set(REASONS)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("from p.a import x", Place.MODULE),
        ("from p import a", Place.MODULE),
        ("from . import a", Place.MODULE),
        ("def f():\n    import p.a", Place.FUNCTION),
        ("if TYPE_CHECKING:\n    from .a import x", Place.TYPES),
    ],
)
def test_planted_import_cycle_is_found_at_its_place(
    tmp_path: Path, line: str, place: Place
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/__init__.py").touch()
    (tmp_path / "p/a.py").write_text("import p.b\n")
    (tmp_path / "p/b.py").write_text(f"{line}\n")
    found = imports_of(modules_of(tmp_path, ["p"]))
    planted = [frozenset({"p.a", "p.b"})]
    assert circles(found, {Place.MODULE, place}) == planted
    assert circles(found, set(Place) - {place}) == []

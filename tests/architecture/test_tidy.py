"""House rules that a machine can see."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.codec.apis import api_for_key
from harness.reference_broker.handlers.table import HANDLERS
from tests.codec.each_layout import each_of
from tests.parsed_source import parsed

ROOT = Path(__file__).resolve().parents[2]
FILE_LIMIT_LINES = 400
FUNCTION_LIMIT_LINES = 60
STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")
BANNED_NAMES = re.compile(r"utils?|helpers?|common|misc|managers?")
PATHS_OF_A_MACHINE = re.compile(r"(?<![A-Za-z0-9_.])/(?:work|root|home/[a-z]+)/")
REGISTRY_ADDRESS = re.compile(
    r"https?://[^\s\"')]*(?:maven|pypi|pythonhosted|npmjs|crates)[^\s\"')]*"
)


def tracked(pattern: str) -> list[Path]:
    """Files that git knows or would take."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.splitlines() if (ROOT / name).exists()]


PYTHON = tracked("*.py")


def test_files_and_functions_are_within_size_limits() -> None:
    assert len(PYTHON) > 1_000
    found = [said for file in PYTHON for said in too_long(file)]
    assert not found, "\n".join(found)


def too_long(file: Path) -> Iterator[str]:
    """The file and each of its functions that has too many lines."""
    text, place = file.read_text("utf-8"), file.relative_to(ROOT)
    if (lines := text.count("\n")) > FILE_LIMIT_LINES:
        yield f"{place} has {lines} lines"
    for node in _functions(parsed(text)):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LIMIT_LINES:
            yield f"{place}: {node.name} has {lines} lines"


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All below ``node``: they stand in statements alone, so expressions are not looked into."""
    for name in STATEMENTS:
        for inner in getattr(node, name, ()):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner
            yield from _functions(inner)


def test_no_file_has_banned_generic_name() -> None:
    bad = [f for f in PYTHON if BANNED_NAMES.fullmatch(f.stem)]
    assert bad == []


def test_no_file_contains_machine_path_or_registry_address() -> None:
    found = []
    for file in tracked("*"):
        if file.suffix in (".png", ".parquet", ".ico") or file == Path(__file__):
            continue
        text = file.read_text("utf-8", "replace")
        found += [f"{file.relative_to(ROOT)}: {m[0]}" for m in PATHS_OF_A_MACHINE.finditer(text)]
        found += [
            f"{file.relative_to(ROOT)}: {m[0]}"
            for m in REGISTRY_ADDRESS.finditer(text)
            if ".test/" not in m[0]
        ]
    assert found == []


def test_docker_folder_has_no_python() -> None:
    assert not list((ROOT / "docker").rglob("*.py"))


@each_of({api_for_key(key).name: key for key in HANDLERS})
def test_each_handler_docstring_names_its_served_versions(key: int) -> None:
    """The first line of a handler is what it is registered for."""
    registered = HANDLERS[key]
    module = sys.modules[registered.handle.__module__]
    assert key == module.API_KEY
    first = (module.__doc__ or "").splitlines()[0]
    served = f"versions {registered.advertised.lowest} to {registered.advertised.highest}"
    assert first == f"{api_for_key(key).name}: API key {key}, {served}."
    assert module.__name__.rsplit(".", 1)[-1].startswith(f"api_{key:02}_")

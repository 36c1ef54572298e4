"""aiokafka: the struct classes in the union of each ``Request[...]``, of the requests it makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece, ReadError

PROTOCOL = r"aiokafka/protocol/\w+\.py"
SENDERS = r"aiokafka/(?!protocol/).*\.py"
_CALLED = re.compile(r"\b(\w+Request)\(")


def read(sources: Sources) -> Iterator[Piece]:
    """Yield each API_VERSION of the classes in the union, by the request's API_KEY."""
    called = {
        name for text in matching(sources, SENDERS).values() for name in _CALLED.findall(text)
    }
    for path, text in matching(sources, PROTOCOL).items():
        module = ast.parse(text)
        classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
        unions = {
            node.target.id: node.value
            for node in module.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        for name in sorted(classes.keys() & called):
            for struct in _structs(classes[name], unions):
                if struct not in classes:
                    raise ReadError(f"{path}: {name}: the class {struct} is not in that file")
                version = _number(path, classes[struct], "API_VERSION")
                yield _number(path, classes[name], "API_KEY"), version, version


def _structs(request: ast.ClassDef, unions: dict[str, ast.expr | None]) -> Iterator[str]:
    """The names in ``Request[...]``, which is a union of classes or a class."""
    for base in request.bases:
        if isinstance(base, ast.Subscript) and isinstance(base.slice, ast.Name):
            union = unions.get(base.slice.id) or base.slice
            yield from (node.id for node in ast.walk(union) if isinstance(node, ast.Name))


def _number(path: str, owner: ast.ClassDef, name: str) -> int:
    for node in owner.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return int(ast.literal_eval(node.value))
    raise ReadError(f"{path}: {owner.name}: no {name}")

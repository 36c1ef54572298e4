"""kafka-python: its message definitions, limited by ``max_version`` where it makes a request."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from harness.codec.versions import HIGHEST
from labs.client_versions.readers.definitions import defined_requests
from labs.client_versions.source_text import Sources, matching
from labs.client_versions.version_table import Piece

DEFINITIONS = r"kafka/protocol/schemas/resources/\w+Request\.json"
SENDERS = r"kafka/(?!protocol/|cli/|benchmarks/).*\.py"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(sources: Sources) -> Iterator[Piece]:
    """Yield the defined versions up to the highest that any place asks for."""
    highest: dict[str, int] = {}
    for text in matching(sources, SENDERS).values():
        for request, limit in _made(ast.parse(text)):
            highest[request] = max(limit, highest.get(request, 0))
    for request, (key, stable) in defined_requests(matching(sources, DEFINITIONS)).items():
        if request in highest:
            yield key, stable.lowest, min(stable.highest, highest[request])


def _made(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each call of a request's class, with the limit that it gives."""
    for function in ast.walk(module):
        if isinstance(function, _Function):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                    yield ast.unparse(node.func).rpartition(".")[2], _limit(node, function)


def _limit(call: ast.Call, function: _Function) -> int:
    """The number in ``max_version=``, or the highest that the function assigns to its name."""
    for word in call.keywords:
        if word.arg == "max_version":
            if isinstance(word.value, ast.Constant):
                return int(ast.unparse(word.value))
            return max(_assigned(function, ast.unparse(word.value)), default=HIGHEST)
    return HIGHEST


def _assigned(function: _Function, name: str) -> Iterator[int]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            for value in ast.walk(node.value):
                if isinstance(value, ast.Constant) and type(value.value) is int:
                    yield value.value

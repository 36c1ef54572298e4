"""The layouts for which the long checks are due: what changed, and a draw of the rest.

The code of a layout follows from its definition and from the codec. ``checked_layouts.tsv`` has a
hash of both, as they were when ``python -m tests.codec.checked_layouts`` last found that all long
checks of all layouts pass.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import pytest

from harness.codec.compact_form import compact_line
from harness.codec.structs import Message
from labs.message_values.values import CLASSES, class_name

HERE = Path(__file__).parent
FILE = HERE / "checked_layouts.tsv"
ONE_IN = 12
"""Of the layouts that did not change, the share that is drawn."""
CODE = "(code)"
LIMIT_S = "3600"
"""Of one test over all layouts, on a busy machine."""
LONG_CHECKS = tuple(
    HERE / f"test_{name}.py" for name in ("agreement", "allocation", "dictionary_form")
)
SOURCES = (
    *sorted((HERE.parents[1] / "harness/codec").glob("*.py")),
    *(HERE / f"{name}.py" for name in ("realistic", "each_layout")),
    *sorted((HERE.parents[1] / "labs/message_values").glob("*.py")),
    *LONG_CHECKS,
)
"""The codec, the long checks, and the messages that they are made with."""


def due(config: pytest.Config) -> list[type[Message]]:
    """All layouts with ``--deep`` and where a test is named; else what changed, and a draw."""
    if config.getoption("deep") or any("::" in argument for argument in config.args):
        return CLASSES
    names = due_names(hashes(), read(), config.getoption("draw", default=None) or "")
    return [cls for cls in CLASSES if class_name(cls) in names]


def due_names(now: Mapping[str, str], checked: Mapping[str, str], draw: str) -> set[str]:
    """All where the code is another; else the layouts of another hash, and one in ``ONE_IN``."""
    names = now.keys() - {CODE}
    if now[CODE] != checked.get(CODE):
        return names
    changed = {name for name in names if now[name] != checked.get(name)}
    drawn = {name for name in names if crc32(f"{name} {draw}".encode()) % ONE_IN == 0}
    return changed | drawn


@cache
def hashes() -> dict[str, str]:
    """By the name of a layout, and the one of the code."""
    code = "\0".join(_code_of(file) for file in SOURCES).encode()
    found = {CODE: _hash(code)}
    for cls in CLASSES:
        name = class_name(cls)
        found[name] = _hash(compact_line(name, cls.message_spec).encode())
    return found


def _code_of(file: Path) -> str:
    """What a file does: its syntax tree without comments, docstrings and places."""
    tree = ast.parse(file.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str())), *_]:
                    node.body[0] = ast.Pass()
    return ast.dump(tree)


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


def read() -> dict[str, str]:
    """Return the recorded hashes, none without the file."""
    lines = FILE.read_text("utf-8").splitlines() if FILE.exists() else []
    return {name: digest for name, _, digest in (line.partition("\t") for line in lines)}


def write(found: Mapping[str, str]) -> None:
    """Record the hashes, one line a layout."""
    FILE.write_text("".join(f"{name}\t{digest}\n" for name, digest in found.items()), "utf-8")


def main() -> int:
    """Run the long checks of all layouts; the hashes are recorded when every one passes."""
    found = hashes()
    command = [sys.executable, "-m", "pytest", *map(str, LONG_CHECKS), "--deep", "-q", "-n", "2"]
    command += ["--dist", "worksteal", "-p", "no:cacheprovider", "--timeout", LIMIT_S]
    ended = subprocess.run(command, check=False)
    if ended.returncode == 0:
        write(found)
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())

"""Syntax trees of source texts: several tests look through all files, and each text is parsed once.

The trees are shared, so no test changes one. The tests of ``tests/architecture`` release them.
"""

from __future__ import annotations

import ast
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a module. Raises SyntaxError."""
    return ast.parse(source)

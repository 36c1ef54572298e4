"""Options of a target string: ``kafka:3.9.2,mode=zk,nodes=3``.

Commas and no question mark: shells expand those.
"""

from __future__ import annotations

from collections.abc import Collection

from harness.base.suggestion import did_you_mean
from harness.targets.errors import TargetError


def split_options(rest: str, known: Collection[str]) -> tuple[list[str], dict[str, str]]:
    """The words without ``=`` in order, and the options by name.

    A name in ``known`` that ends with a dot takes any name that begins so, as ``set.`` does for
    ``set.log.retention.ms=1000``. Raises TargetError: unknown, given twice, without a value.
    """
    words: list[str] = []
    options: dict[str, str] = {}
    for word in rest.split(",") if rest else []:
        name, equals, value = word.partition("=")
        if not equals:
            words.append(word)
            continue
        if name not in known and not any(name.startswith(k) for k in known if k.endswith(".")):
            there = ", ".join(sorted(known)) or "none"
            raise TargetError(f"unknown option {name!r}{did_you_mean(name, known)}; known: {there}")
        if name in options:
            raise TargetError(f"the option {name!r} is given twice")
        if not value:
            raise TargetError(f"the option {name!r} has no value")
        options[name] = value
    return words, options

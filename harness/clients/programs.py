"""Clients for Go and JavaScript: programs beside this file, made once in the cache.

``golang/`` is one program for all clients for Go, ``node/`` has a script for each of JavaScript.
The releases are those of ``go.mod`` and ``package.json``.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from harness.targets.obtain import BrokerSource, obtain

GO_FOLDER: Final = Path(__file__).with_name("golang")
_NODE: Final = Path(__file__).with_name("node")


@dataclass(frozen=True, slots=True)
class ProgramClient:
    """``kind``: of the source, as in ``harness.targets.obtain``.

    ``package``: its name in the registry. ``file``: the words before the release in the name of
    its client file.
    """

    kind: str
    package: str
    file: str

    @property
    def release(self) -> str:
        """The release that the program is made with."""
        return _RELEASES[self.kind](self.package)

    def command(self, name: str) -> Sequence[str]:
        """The words that start it, but for the addresses.

        Raises ObtainError: Go or Node.js is missing, or the program cannot be made.
        """
        if self.kind == "go":
            return [str(obtain(BrokerSource("go", GO_FOLDER)) / GO_FOLDER.name), name]
        made = obtain(BrokerSource("npm", _NODE))
        return [shutil.which("node") or "node", str(made / f"{name}.cjs")]


def _of_go(module: str) -> str:
    required = (GO_FOLDER / "go.mod").read_text("utf-8")
    found = re.search(rf"^\s{re.escape(module)} v(\S+)$", required, re.MULTILINE)
    assert found, f"go.mod does not require {module}"
    return found[1]


def _of_npm(package: str) -> str:
    named: dict[str, str] = json.loads((_NODE / "package.json").read_text("utf-8"))["dependencies"]
    return named[package]


_RELEASES: Final = {"go": _of_go, "npm": _of_npm}

PROGRAMS: Final[Mapping[str, ProgramClient]] = MappingProxyType(
    {
        "franz-go": ProgramClient("go", "github.com/twmb/franz-go", "franz-go"),
        "sarama": ProgramClient("go", "github.com/IBM/sarama", "sarama"),
        "kafka-go": ProgramClient("go", "github.com/segmentio/kafka-go", "kafka-go"),
        "kafkajs": ProgramClient("npm", "kafkajs", "kafkajs"),
    }
)
"""By the name of the client."""

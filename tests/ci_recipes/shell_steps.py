"""A runner of shell steps, as the runner of a CI runs them: one after the other until one fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

GITHUB_PATH = "GITHUB_PATH"
"""The variable with the file to which a step appends folders of programs."""
INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@dataclass(frozen=True, slots=True)
class ShellStep:
    """A script and its own environment variables."""

    script: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EndedSteps:
    """The exit code of the last step that ran, and the output of all."""

    exit_code: int
    output: str


def filled(text: str, inputs: Mapping[str, str]) -> str:
    """The text with the values of an action's inputs."""
    return INPUT.sub(lambda found: inputs[found[1]], text)


def run_steps(
    steps: Iterable[ShellStep], folder: Path, environment: Mapping[str, str]
) -> EndedSteps:
    """Run the scripts in a folder by ``bash -e``, with the programs of this environment."""
    output, code = [], 0
    for step in steps:
        path = os.pathsep.join([*_added(environment), os.environ["PATH"]])
        ended = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step.script],
            cwd=folder,
            env={**os.environ, "PATH": path, **environment, **step.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output.append(ended.stdout)
        code = ended.returncode
        if code:
            break
    return EndedSteps(code, "".join(output))


def _added(environment: Mapping[str, str]) -> list[str]:
    """The folders of programs that earlier steps have added, and those of this environment."""
    file = Path(environment.get(GITHUB_PATH, os.devnull))
    lines = file.read_text().splitlines() if file.is_file() else []
    return [*reversed(lines), str(Path(sys.executable).parent)]

"""Runs commands one after the other; prints the exit code and the output of each, as JSON.

``python commands.py '[[["log", "verify", "DIR"], "its input"], ...]'``
"""

from __future__ import annotations

import json
import sys

from click.testing import CliRunner

from harness.cli import main


def invoke(words: list[str], given: str) -> tuple[int, str]:
    """Raises what the command raises besides SystemExit."""
    ended = CliRunner().invoke(main, words, input=given, catch_exceptions=False)
    return ended.exit_code, ended.output


if __name__ == "__main__":
    print(json.dumps([invoke(*each) for each in json.loads(sys.argv[1])]))

"""The command in this process, against a broker in a thread of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from click.testing import CliRunner, Result

from harness.cli import main

Address = tuple[str, int]


class Talking:
    """``talk`` with one broker as its target."""

    def __init__(self, address: Address) -> None:
        self.target = "external:{}:{}".format(*address)

    def invoke(self, verb: str, *words: str, given: str | bytes = "") -> Result:
        """Run the command. Raises what it raises besides SystemExit."""
        words = ("talk", verb, "--target", self.target, *words)
        return CliRunner().invoke(main, words, input=given, catch_exceptions=False)

    def ask(self, api: str, values: Any, *words: str) -> Any:
        """The response, as JSON."""
        ended = self.invoke("ask", *words, api, json.dumps(values))
        assert ended.exit_code == 0, ended.output
        return json.loads(ended.stdout)

    def produce(self, *words: str, given: str | bytes) -> list[dict[str, Any]]:
        """The lines about batches."""
        return _lines(self.invoke("produce", *words, given=given))

    def consume(self, *words: str) -> list[dict[str, Any]]:
        """The records."""
        return _lines(self.invoke("consume", *words))


def as_lines(values: Iterable[Any]) -> str:
    """A line of JSON for each value."""
    return "".join(json.dumps(value) + "\n" for value in values)


def _lines(ended: Result) -> list[dict[str, Any]]:
    assert ended.exit_code == 0, ended.output
    return [json.loads(line) for line in ended.stdout.splitlines()]

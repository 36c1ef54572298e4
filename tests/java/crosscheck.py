"""Our codec against the official Java classes: same values, same bytes.

``python -m tests.java.crosscheck [--release 4.4.0] [--messages 20] [--seed 1]`` prints the counts.
"""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from harness.codec import encode
from harness.codec.apis import APIS, Api
from harness.codec.structs import Message
from harness.java import find_java
from tests.java.java_form import has_records, java_form
from tests.java.maven import build
from tests.java.random_messages import random_message

POM = Path(__file__).with_name("pom.xml")
RELEASES = ("3.9.2", "4.4.0")
ANSWER_TIMEOUT_S = 600

# What one release cannot judge: it calls the message or a field differently, or its early access
# version 0 has other bytes (listed with reasons in the comparison of definitions, tests/codec).
OTHER_LAYOUT = {
    ("3.9.2", "ListConfigResources"),
    ("3.9.2", "TxnOffsetCommit"),
    ("3.9.2", "Vote"),
    ("3.9.2", "ReadShareGroupStateSummary"),
}


@dataclass(frozen=True)
class Sent:
    """One message, its bytes, and what the official class should say of it."""

    message: Message
    version: int
    raw: bytes
    value: dict[str, Any]

    def line(self) -> str:
        cls = type(self.message)
        asked = {"name": cls.__name__, "version": self.version, "hex": self.raw.hex()}
        if not has_records(cls) and not _has_unknown_tags(self.message):
            asked["json"] = self.value
        return json.dumps(asked)


@dataclass
class Count:
    """What a run compared, and what differed."""

    messages: int = 0
    layouts: set[tuple[str, int]] = field(default_factory=set)
    from_json: int = 0
    problems: list[str] = field(default_factory=list)


def crosscheck(release: str, apis: list[Api], messages: int, seed: int) -> Count:
    """Compare ``messages`` random messages of every version and direction that the release has."""
    sent = list(_drawn(release, apis, messages, random.Random(seed)))
    with tempfile.TemporaryDirectory() as folder:
        properties = {"kafka.version": release, "crosscheck.directory": folder}
        build(POM, "compile", properties)
        answers = _ask(Path(folder), [one.line() for one in sent])
    count = Count()
    for one, answer in zip(sent, answers, strict=True):
        compare(one, answer, count)
    return count


def _drawn(release: str, apis: list[Api], messages: int, chance: random.Random) -> Iterator[Sent]:
    for api in apis:
        if (release, api.name) in OTHER_LAYOUT:
            continue
        for cls in (api.request, api.response):
            for version in api.valid_versions:
                for _ in range(messages):
                    message = random_message(chance, cls, version)
                    raw = encode(message, version)
                    yield Sent(message, version, raw, java_form(cls, message, version))


def _ask(folder: Path, lines: list[str]) -> list[dict[str, Any]]:
    classpath = f"{folder / 'classes'}:{(folder / 'classpath').read_text('utf-8').strip()}"
    command = [str(find_java().executable), "-cp", classpath, "crosscheck.CrossCheck"]
    done = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=ANSWER_TIMEOUT_S,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def compare(sent: Sent, answer: dict[str, Any], count: Count) -> None:
    """Add what the official class said of one message to ``count``."""
    name = type(sent.message).__name__
    if "unknown" in answer:
        return
    count.messages += 1
    count.layouts.add((name, sent.version))
    found = []
    if "error" in answer:
        found.append(answer["error"])
    else:
        if answer["remaining"]:
            found.append(f"{answer['remaining']} bytes left over")
        if answer["hex"] != sent.raw.hex():
            found.append(f"bytes {answer['hex']}, ours {sent.raw.hex()}")
        if answer["value"] != sent.value:
            found.append(f"value {answer['value']}, ours {sent.value}")
        if "from_json" in answer:
            count.from_json += 1
            if answer["from_json"] != sent.raw.hex():
                found.append(f"bytes from the value {answer['from_json']}, ours {sent.raw.hex()}")
    count.problems += [f"{name} v{sent.version}: {problem}" for problem in found]


def _has_unknown_tags(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_unknown_tags, value))
    if not hasattr(value, "unknown_tagged_fields"):
        return False
    held = [getattr(value, one.name) for one in value.spec.fields]
    return bool(value.unknown_tagged_fields) or _has_unknown_tags(held)


@click.command()
@click.option("--release", "releases", multiple=True, default=RELEASES, show_default=True)
@click.option("--messages", default=20, show_default=True, help="Of each version and direction.")
@click.option("--seed", default=1, show_default=True)
def main(releases: tuple[str, ...], messages: int, seed: int) -> None:
    """All APIs, all versions, both directions."""
    failed = False
    for release in releases:
        count = crosscheck(release, list(APIS.values()), messages, seed)
        click.echo(
            f"kafka-clients {release}: {count.messages} messages of {len(count.layouts)} layouts, "
            f"{count.from_json} also written from their value, {len(count.problems)} differ"
        )
        for problem in count.problems[:20]:
            click.echo(f"  {problem[:400]}")
        failed |= bool(count.problems)
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()

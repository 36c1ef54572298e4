"""Names in docs/proxy.md are those of the code."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import click

from harness.commands.proxy import TOKEN_VARIABLE, proxy_command
from harness.proxies import partitions
from harness.proxies.control.event_log import EventLog
from harness.proxies.control.kafka_api import KafkaApi
from harness.proxies.control.metrics_api import MetricsApi
from harness.proxies.control.proxies import Proxies
from harness.proxies.control.rules_api import RulesApi
from harness.proxies.control.toxiproxy_api import ToxiproxyApi
from harness.proxies.rules import RuleSet
from harness.proxies.toxics.types import TYPES
from tests.proxies.control.running import plain

TEXT = (Path(__file__).parents[2] / "docs/proxy.md").read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under it."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_proxy_doc_lists_every_toxic_with_its_attributes() -> None:
    told = {row[0].strip("| `"): set(re.findall(r"`(\w+)`", row[1])) for row in rows("Toxics")}
    there = {
        name: {field.name for field in dataclasses.fields(toxic)} for name, toxic in TYPES.items()
    }
    assert told == there


def test_proxy_doc_lists_every_command_option() -> None:
    told = {name for row in rows("Before your own cluster") for name in
            re.findall(r"--[a-z-]+", row[0])}  # fmt: skip
    options = [each for each in proxy_command.params if isinstance(each, click.Option)]
    assert told == {name for option in options for name in option.opts} - {"--help"}
    assert TOKEN_VARIABLE in TEXT


def test_proxy_doc_lists_every_http_path() -> None:
    proxies = Proxies(plain)
    apis = (
        ToxiproxyApi(proxies, "2"),
        KafkaApi(proxies, EventLog()),
        MetricsApi(proxies, None),
        RulesApi(RuleSet(now_ms=lambda: 0.0)),
    )
    there = {re.sub(r"\{\w+\}", "*", route.path) for api in apis for route in api.routes()}
    section = TEXT.split("## Over HTTP\n")[1].split("\n## ")[0]
    prose = " ".join(re.findall(r"`([^`\n]*/[^`\n]+)`", section))
    named = {re.sub(r"\b(?:NAME|TOXIC|ID)\b", "*", path) for path in re.findall(r"/[\w/]+", prose)}
    named = {re.sub(r"/(?:cut|heal|reset)$", "/*", path) if "links/" in path else path
             for path in named}  # fmt: skip
    assert named == there


def test_partitions_in_proxy_doc_exist_in_code() -> None:
    listed = TEXT.split("Partitions: ")[1].split(";")[0]
    for name in re.findall(r"`(\w+)`", listed):
        assert callable(getattr(partitions, name))

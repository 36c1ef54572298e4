"""The table describes the clients correctly, and the document contains it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.clients.official import FOLDER
from harness.clients.one_client import DRIVERS
from harness.clients.programs import GO_FOLDER
from harness.clients.vocabulary import CALLS
from labs.clients.clients import CLIENTS, TOOL_CLIENTS
from labs.clients.table import offers_table
from labs.clients.tools import CommandLine

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "clients.md"


def answered(client: str) -> set[str]:
    """The calls that its driver has."""
    if client in DRIVERS:
        text = (FOLDER.parent / "drivers" / f"{DRIVERS[client][0]}.py").read_text("utf-8")
        return {call for call in CALLS if f"    def {call}(" in text.replace("async def", "def")}
    if client in TOOL_CLIENTS:
        return {call for call in CALLS if hasattr(CommandLine, f"_{call}")}
    sources = [*FOLDER.glob("src/*.java")] if client == "java" else [*GO_FOLDER.glob("*.go")]
    text = "".join(source.read_text("utf-8") for source in sources)
    return {call for call in CALLS if f'"{call}"' in text}


@pytest.mark.parametrize("client", CLIENTS)
def test_driver_implements_all_calls_of_its_client(client: str) -> None:
    assert answered(client) == CALLS.keys() - CLIENTS[client].lacks.keys()


def test_document_contains_client_table() -> None:
    assert offers_table() in DOCUMENT.read_text("utf-8")

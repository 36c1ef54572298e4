"""The clients as a table: what each does, and which release is here."""

from __future__ import annotations

import subprocess

from harness.clients.vocabulary import CALLS
from harness.targets.errors import TargetError
from harness.targets.java import JavaError
from labs.clients.clients import BY_CONSOLE, CLIENTS, Client


def offers_table() -> str:
    """In Markdown, a row for each call."""
    rows = [["call", *CLIENTS], ["---"] * (len(CLIENTS) + 1)]
    rows += [[meaning, *(_cell(one, call) for one in CLIENTS.values())]
             for call, meaning in CALLS.items()]  # fmt: skip
    rows.append(["rebalances", *(", ".join(one.strategies) or "console"
                                 for one in CLIENTS.values())])  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _cell(client: Client, call: str) -> str:
    if client.offers(call):
        return "yes"
    return "console" if client.lacks[call] == BY_CONSOLE else "no"


def releases_table() -> str:
    """In Markdown; what is really installed, built or pinned."""
    rows = [["client", "release"], ["---", "---"]]
    rows += [[name, _release(one)] for name, one in CLIENTS.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _release(client: Client) -> str:
    try:
        return client.release()
    except (TargetError, JavaError, OSError, subprocess.CalledProcessError) as problem:
        return f"not here: {problem}"

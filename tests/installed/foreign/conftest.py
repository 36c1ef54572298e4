"""Switches the fixtures on; this project has options and fixtures of its own by common names."""

from __future__ import annotations

import pytest

pytest_plugins = ("harness.fixtures",)


def pytest_addoption(parser: pytest.Parser) -> None:
    for name in ("--target", "--out", "--run-id", "--seed", "--requirement", "--retries"):
        parser.addoption(name, default=f"ours {name}")


@pytest.fixture
def broker() -> str:
    """The fixture that this project calls a broker."""
    return "a pawnbroker"

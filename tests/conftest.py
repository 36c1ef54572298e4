"""Options and limits of all tests, each in a module of its own."""

from __future__ import annotations

import pytest

from tests import drawn_cases, drawn_examples, time_limits

# Now: settings that modules make while they are imported take what they do not say from here.
drawn_examples.load("gate")


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    for plugin in (drawn_cases, drawn_examples, time_limits):
        pluginmanager.register(plugin)

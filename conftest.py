"""Loads the conformance plugin; it wakes up only when tests below ``suites/`` are asked for."""

pytest_plugins = ("harness.pytest_plugin",)

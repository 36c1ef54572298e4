"""Loads the conformance plugin, which wakes up only when tests below ``suites/`` are asked for, and
the clock lane of ``tests/``.
"""

pytest_plugins = ("harness.runner.pytest_plugin", "checks.clock_lane")

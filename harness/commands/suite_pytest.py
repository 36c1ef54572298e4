"""The start of pytest by the commands, isolated from its surroundings.

Configuration file, root folder and plugins are all named. Conftest files above the suites, plugins
of other packages and pytest's own environment variables have no effect. pytest makes no temporary
folders, because a run that is killed would leave them behind.
"""

from __future__ import annotations

import os

from harness.base.bundle import SUITES_CONFIG, suites_root

_NOT_OURS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def suite_options() -> list[str]:
    """Options for pytest, before the paths of the tests."""
    root = str(suites_root())
    options = ["-c", str(SUITES_CONFIG), "--rootdir", root, "--confcutdir", root]
    plugins = ("no:cacheprovider", "no:tmpdir", "xdist", "harness.runner.pytest_plugin")
    return [*options, *(word for plugin in plugins for word in ("-p", plugin))]


def at_once(jobs: str) -> list[str]:
    """Options for as many workers; which gets what: :mod:`harness.runner.scheduling`."""
    return ["-n", jobs]


def suite_environment() -> dict[str, str]:
    """This process's environment without what steers pytest; modules in the working folder of
    pytest's workers do not count either."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_OURS}
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONSAFEPATH": "1"}

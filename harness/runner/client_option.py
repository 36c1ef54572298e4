"""The option ``--client``: with it a run is about a client, without it the suite is not collected.

What knows the clients is imported by the runs alone that have the option.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from harness.base.bundle import CLIENTS_SUITE

_FIXTURE: Final = "harness.runner.client_fixture"


def pytest_configure(config: pytest.Config) -> None:
    line = "client_needs(versions): the APIs that client and broker have to share"
    config.addinivalue_line("markers", line)
    if config.getoption("client"):
        config.pluginmanager.import_plugin(_FIXTURE)
        return
    here, folder = config.invocation_params.dir, config.rootpath / CLIENTS_SUITE
    named = ((here / argument.split("::")[0]).resolve() for argument in config.args)
    if any(path == folder or folder in path.parents for path in named):
        raise pytest.UsageError(f"{CLIENTS_SUITE} asks a client of another project: --client NAME")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without a client its suite is not collected: the other suites ask by themselves."""
    if config.getoption("client"):
        return None
    return True if collection_path == config.rootpath / CLIENTS_SUITE else None

"""Hypothesis draws the same examples in each run, and with ``--deep`` others in each.

No example has a deadline: it would be of wall clock, which a busy machine exceeds.
"""

from __future__ import annotations

from random import SystemRandom

import pytest
from hypothesis import settings

PROFILES = {
    "gate": settings(deadline=None, derandomize=True, database=None),
    "deep": settings(deadline=None, derandomize=False, database=None),
}


def load(profile: str) -> None:
    """For all settings that are made from now on."""
    settings.register_profile(profile, PROFILES[profile])
    settings.load_profile(profile)


@pytest.hookimpl(tryfirst=True)  # Hypothesis reads the seed in the same hook
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("deep"):
        load("deep")
        if config.option.hypothesis_seed is None:  # pytest-xdist gives the option to its workers
            config.option.hypothesis_seed = SystemRandom().randrange(1 << 32)


def pytest_report_header(config: pytest.Config) -> str:
    if config.getoption("deep"):
        seed = config.getoption("hypothesis_seed")
        return f"examples: random ones, which --deep --hypothesis-seed={seed} draws again"
    return "examples: the same in each run"

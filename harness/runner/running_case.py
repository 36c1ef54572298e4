"""The running test, in the stash of its pytest item."""

from __future__ import annotations

import pytest

from harness.runner.case_session import CaseSession

CASE = pytest.StashKey[CaseSession]()

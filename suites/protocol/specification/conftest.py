"""The fixtures of this folder's tests."""

from __future__ import annotations

from harness.runner.specification import judge, specification

__all__ = ["judge", "specification"]

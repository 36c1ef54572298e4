"""The fixtures of this folder's tests."""

from __future__ import annotations

from harness.runner.null_judge import null_judge, shared_conversations

__all__ = ["null_judge", "shared_conversations"]

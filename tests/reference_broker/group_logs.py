"""Logs for groups in tests of what is not written."""

from harness.reference_broker.likeness import Likeness
from harness.reference_broker.state.group_log import GroupLog


def nowhere() -> GroupLog:
    """Without a topic."""
    return GroupLog(lambda: None, Likeness())

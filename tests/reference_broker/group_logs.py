"""Logs for groups in tests of state that is not written."""

from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.groups.group_log import GroupLog


def nowhere() -> GroupLog:
    """A log of groups without a topic."""
    return GroupLog(lambda: None, EmulatedRelease())

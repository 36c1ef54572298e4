"""The actions on frames: one a file, all of them in one table."""

from __future__ import annotations

from harness.proxies.rules.actions.action import RuleAction
from harness.proxies.rules.actions.answer import AnswerInstead
from harness.proxies.rules.actions.append import Append
from harness.proxies.rules.actions.correlation_id import SetCorrelationId
from harness.proxies.rules.actions.delay import Delay
from harness.proxies.rules.actions.drop import Drop
from harness.proxies.rules.actions.duplicate import Duplicate
from harness.proxies.rules.actions.end_connection import CloseOnFrame, ResetOnFrame
from harness.proxies.rules.actions.hold import HoldFrame
from harness.proxies.rules.actions.lie_about_length import LieAboutLength
from harness.proxies.rules.actions.reorder import Reorder
from harness.proxies.rules.actions.rewrite import Rewrite
from harness.proxies.rules.actions.swap_correlation_ids import SwapCorrelationIds
from harness.proxies.rules.actions.throttle import Throttle
from harness.proxies.rules.actions.truncate import Truncate
from harness.proxies.rules.actions.watch import WatchFrame

_ALL: tuple[type[RuleAction], ...] = (
    Drop,
    Delay,
    HoldFrame,
    Duplicate,
    Reorder,
    SetCorrelationId,
    SwapCorrelationIds,
    Truncate,
    LieAboutLength,
    Append,
    Rewrite,
    AnswerInstead,
    CloseOnFrame,
    ResetOnFrame,
    Throttle,
    WatchFrame,
)
ACTIONS: dict[str, type[RuleAction]] = {action.name: action for action in _ALL}
"""Actions by the key that stands for them in a rule."""

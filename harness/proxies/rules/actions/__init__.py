"""The actions on frames: one a file, all of them in one table."""

from __future__ import annotations

from harness.proxies.rules.actions.action import Action
from harness.proxies.rules.actions.answer import Answer
from harness.proxies.rules.actions.append import Append
from harness.proxies.rules.actions.correlation_id import SetCorrelationId
from harness.proxies.rules.actions.delay import Delay
from harness.proxies.rules.actions.drop import Drop
from harness.proxies.rules.actions.duplicate import Duplicate
from harness.proxies.rules.actions.end_connection import Close, Reset
from harness.proxies.rules.actions.hold import Hold
from harness.proxies.rules.actions.lie_about_length import LieAboutLength
from harness.proxies.rules.actions.reorder import Reorder
from harness.proxies.rules.actions.rewrite import Rewrite
from harness.proxies.rules.actions.swap_correlation_ids import SwapCorrelationIds
from harness.proxies.rules.actions.throttle import Throttle
from harness.proxies.rules.actions.truncate import Truncate
from harness.proxies.rules.actions.watch import Watch

_ALL: tuple[type[Action], ...] = (
    Drop,
    Delay,
    Hold,
    Duplicate,
    Reorder,
    SetCorrelationId,
    SwapCorrelationIds,
    Truncate,
    LieAboutLength,
    Append,
    Rewrite,
    Answer,
    Close,
    Reset,
    Throttle,
    Watch,
)
ACTIONS: dict[str, type[Action]] = {action.name: action for action in _ALL}
"""Actions by the key that stands for them in a rule."""

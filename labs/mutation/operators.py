"""The operators by name. Each stands for a mistake that the author of a broker can make."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from labs.mutation import comparisons, numbers, updates, values
from labs.mutation.mutant import Operator

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        "boundary": comparisons.boundary,
        "turned": comparisons.turned,
        "condition": comparisons.condition_left_out,
        "operand": comparisons.operand_left_out,
        "negation": comparisons.negation_left_out,
        "off-by-one": numbers.off_by_one,
        "least-most": numbers.least_for_most,
        "release": numbers.release_shifted,
        "version": numbers.version_shifted,
        "error-code": numbers.error_exchanged,
        "skipped": updates.update_skipped,
        "repeated": updates.update_repeated,
        "timer": updates.timer_skipped,
        "not-written": updates.write_skipped,
        "order": updates.effects_exchanged,
        "early-return": updates.early_return,
        "loop": updates.loop_cut,
        "default": values.field_left_out,
        "null": values.null_for_empty,
        "like-variable": values.like_variable,
    }
)

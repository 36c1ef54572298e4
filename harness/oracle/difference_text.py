"""The text of a difference, with the conversation that shows it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.differential.comparison import FoundDifference
from harness.differential.difference import Difference


def head_of(difference: Difference, specs: Sequence[str]) -> str:
    """Return the place of a difference, and the values on both sides."""
    values = ", ".join(
        f"{spec} {json.dumps(value)}" for spec, value in zip(specs, difference.values, strict=True)
    )
    where = f"{difference.api} v{difference.version}, step {difference.step}"
    return f"{where}: {difference.path}: {values}"


def text_of(found: FoundDifference, specs: Sequence[str]) -> str:
    """Return a difference with the conversation that shows it."""
    steps = [f"  {place}  {step}" for place, step in enumerate(found.conversation.steps)]
    return "\n".join([head_of(found.difference, specs), *steps])

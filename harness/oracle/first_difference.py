"""The text of a difference, with the conversation that shows it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.differential.comparison import FoundDifference


def text_of(found: FoundDifference, specs: Sequence[str]) -> str:
    """Return a difference with the conversation that shows it."""
    one = found.difference
    values = ", ".join(
        f"{spec} {json.dumps(value)}" for spec, value in zip(specs, one.values, strict=True)
    )
    steps = [f"  {place}  {step}" for place, step in enumerate(found.conversation.steps)]
    return "\n".join([f"{one.api} v{one.version}, step {one.step}: {one.path}: {values}", *steps])

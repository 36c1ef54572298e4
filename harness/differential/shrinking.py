"""Reduction of a conversation with a difference to a minimal one that still shows it.

Steps are reduced first, by delta debugging (Zeller and Hildebrandt, 2002), then their fields:
elements are removed from lists, values become those of the harmless request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.codec.apis import api_named
from harness.codec.dictionary_form import DictionaryError, from_dict
from harness.differential.conversation import ConversationStep
from harness.differential.generator import skeleton_fields
from harness.differential.symbols import DAMAGE, RECORDS

StillDiffers = Callable[[Sequence[ConversationStep]], bool]
PLAYS = 200
_SIMPLE_BATCH = {"magic": 2, "records": [{"timestamp": "$time:0", "value": "76"}]}


class _Spent(Exception):
    """The limit of plays is reached; the rest stays as it is."""


class _Trying:
    def __init__(self, differs: StillDiffers, plays: int) -> None:
        self.differs, self.left = differs, plays

    def __call__(self, steps: Sequence[ConversationStep]) -> bool:
        if not self.left:
            raise _Spent
        self.left -= 1
        return self.differs(steps)


def shrink(
    steps: Sequence[ConversationStep], differs: StillDiffers, plays: int = PLAYS
) -> list[ConversationStep]:
    """Return the smallest conversation found; ``differs`` is called at most ``plays`` times."""
    trying, best = _Trying(differs, plays), [list(steps)]
    try:
        _fewer_steps(best, trying)
        _plainer_steps(best, trying)
    except _Spent:
        pass
    return best[0]


def _fewer_steps(best: list[list[ConversationStep]], differs: StillDiffers) -> None:
    """Leave out ever smaller parts, until no single step can be left out."""
    size = max(1, len(best[0]) // 2)
    while True:
        cut = False
        for start in range(len(best[0]) - size, -1, -size):
            kept = best[0][:start] + best[0][start + size :]
            if kept and differs(kept):
                best[0], cut = kept, True
        if size == 1 and not cut:
            return
        size = size if cut and size == 1 else max(1, size // 2)


def _plainer_steps(best: list[list[ConversationStep]], differs: StillDiffers) -> None:
    """Every step's fields, again from the beginning after each change that is kept."""
    for place in range(len(best[0])):
        tried: set[str] = set()
        while (plainer := _a_plainer(best[0], place, differs, tried)) is not None:
            best[0] = plainer


def _a_plainer(
    steps: Sequence[ConversationStep], place: int, differs: StillDiffers, tried: set[str]
) -> list[ConversationStep] | None:
    step = steps[place]
    for fields in _plainer(step.fields, skeleton_fields(step.api, step.version)):
        made = ConversationStep(step.api, step.version, fields)
        if str(made) in tried or not _is_whole(made):
            continue
        tried.add(str(made))
        candidate = [*steps[:place], made, *steps[place + 1 :]]
        if differs(candidate):
            return candidate
    return None


def _is_whole(step: ConversationStep) -> bool:
    """True if it is still a valid request, symbols aside."""
    try:
        from_dict(api_named(step.api).request, step.version, _without_symbols(step.fields))
    except DictionaryError as problem:
        return "$" in str(problem)
    return True


def _without_symbols(value: Any) -> Any:
    if isinstance(value, Mapping):
        if RECORDS in value:
            return ""
        return {key: _without_symbols(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_symbols(inner) for inner in value]
    return value


def _plainer(value: Any, plain: Any) -> Iterator[Any]:
    """Yield simpler values, the simplest first; ``plain`` is the harmless one, None without."""
    if isinstance(value, Mapping):
        yield from _plainer_records(value) if RECORDS in value else _plainer_fields(value, plain)
    elif isinstance(value, list):
        for place in range(len(value)):
            yield value[:place] + value[place + 1 :]
        first = plain[0] if isinstance(plain, list) and plain else None
        for place, inner in enumerate(value):
            for made in _plainer(inner, first):
                yield [*value[:place], made, *value[place + 1 :]]
    elif plain is not None and value != plain and not isinstance(plain, Mapping | list):
        yield plain


def _plainer_fields(value: Mapping[str, Any], plain: Any) -> Iterator[Any]:
    known = plain if isinstance(plain, Mapping) else {}
    for name, inner in value.items():
        for made in _plainer(inner, known.get(name)):
            yield {**value, name: made}
    for name in value:  # a field that is left out has its default
        yield {key: inner for key, inner in value.items() if key != name}


def _plainer_records(value: Mapping[str, Any]) -> Iterator[Any]:
    batches = value[RECORDS]
    if batches != [_SIMPLE_BATCH]:
        yield {**value, RECORDS: [_SIMPLE_BATCH]}
    if DAMAGE in value:
        yield {RECORDS: batches}
    for place, batch in enumerate(batches):
        if len(batches) > 1:
            yield {**value, RECORDS: batches[:place] + batches[place + 1 :]}
        for made in _plainer_batch(batch):
            yield {**value, RECORDS: [*batches[:place], made, *batches[place + 1 :]]}


def _plainer_batch(batch: Mapping[str, Any]) -> Iterator[Any]:
    if len(batch["records"]) > 1:
        yield {**batch, "records": batch["records"][:1]}
    if batch.get("compression", "none") != "none":
        yield {**batch, "compression": "none"}
    for name in batch:
        if name not in ("magic", "records", "compression"):
            yield {key: inner for key, inner in batch.items() if key != name}

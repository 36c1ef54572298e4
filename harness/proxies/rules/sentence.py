"""Rules as sentences in Python: ``responses("Produce").topic("orders").nth(2).drop()``.

Each word sets one key of the rule as TOML has it; the last one is the action, and gives the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.proxies.rules.rule import Rule, read_rule

Api = str | int
Value = Any


def when(**words: Value) -> Sentence:
    """A sentence from keys as TOML has them: ``when(api="Fetch", replica_id=2).delay(500)``."""
    return Sentence(words)


def requests(*apis: Api) -> Sentence:
    """Requests of these APIs, by name or key; of all without any."""
    return Sentence({"on": "request"})._of(apis)


def responses(*apis: Api) -> Sentence:
    """Responses of these APIs, by name or key; of all without any."""
    return Sentence({"on": "response"})._of(apis)


def frames(*apis: Api) -> Sentence:
    """Requests and responses of these APIs; of all without any."""
    return Sentence({})._of(apis)


class Sentence:
    """The beginning of a rule; every word gives a new one."""

    def __init__(self, words: Mapping[str, Value]) -> None:
        self.words = dict(words)

    def _with(self, **words: Value) -> Sentence:
        return Sentence({**self.words, **words})

    def _of(self, apis: tuple[Api, ...]) -> Sentence:
        return self._with(api=_one_or_list(apis)) if apis else self

    def _rule(self, **action: Value) -> Rule:
        return read_rule({**self.words, **action})

    # -- which frames ------------------------------------------------------------------------------

    def named(self, id: str) -> Sentence:  # noqa: A002
        """Set the id of the rule; without it the sentence itself is the id."""
        return self._with(id=id)

    def version(self, versions: int | str) -> Sentence:
        """``3``, ``"1-4"`` or ``"2+"``."""
        return self._with(version=versions)

    def source(self, *nodes: str | int) -> Sentence:
        """Select by the end that opened the connection: ``client``, a broker id, ..."""
        return self._with(source=_one_or_list(nodes))

    def destination(self, *nodes: str | int) -> Sentence:
        """Select by the end that accepts the connection: a broker id, ``controller``, ..."""
        return self._with(destination=_one_or_list(nodes))

    def correlation_id(self, *ids: int) -> Sentence:
        return self._with(correlation_id=_one_or_list(ids))

    def client_id(self, *ids: str) -> Sentence:
        """``*`` in it stands for any characters."""
        return self._with(client_id=_one_or_list(ids))

    def topic(self, *names: str, partition: int | None = None) -> Sentence:
        """Select frames that name this topic, and this partition of it; ``*``: any characters."""
        made = self._with(topic=_one_or_list(names))
        return made if partition is None else made.partition(partition)

    def topic_id(self, *ids: str) -> Sentence:
        return self._with(topic_id=_one_or_list(ids))

    def partition(self, *partitions: int) -> Sentence:
        return self._with(partition=_one_or_list(partitions))

    def group(self, *ids: str) -> Sentence:
        """``*`` in it stands for any characters."""
        return self._with(group=_one_or_list(ids))

    def transactional_id(self, *ids: str) -> Sentence:
        """``*`` in it stands for any characters."""
        return self._with(transactional_id=_one_or_list(ids))

    def replica_id(self, *ids: int) -> Sentence:
        """Select fetches of followers by the broker id of the follower."""
        return self._with(replica_id=_one_or_list(ids))

    def field(self, path: str, value: Value) -> Sentence:
        """Select by a field's value: ``field("acks", -1)``, ``field("**.error_code", [6, 7])``."""
        return self._with(field={**self.words.get("field", {}), path: value})

    def request_field(self, path: str, value: Value) -> Sentence:
        """Select responses by the value of a field of their request."""
        return self._with(request_field={**self.words.get("request_field", {}), path: value})

    # -- which of them, and when -------------------------------------------------------------------

    def nth(self, *counts: int) -> Sentence:
        """Take the matching frames with these ordinals, from 1."""
        return self._with(nth=_one_or_list(counts))

    def first(self, count: int = 1) -> Sentence:
        return self._with(first=count)

    def every(self, count: int) -> Sentence:
        return self._with(every=count)

    def skip(self, count: int) -> Sentence:
        """Skip the first ``count`` matching frames; other counts begin behind them."""
        return self._with(skip=count)

    def with_probability(self, probability: float) -> Sentence:
        return self._with(probability=probability)

    def per(self, what: str) -> Sentence:
        """Count ``all`` together (the default), or those of a ``link`` or of a ``connection``."""
        return self._with(per=what)

    def after_ms(self, milliseconds: float) -> Sentence:
        """Begin so long after the rule was armed."""
        return self._with(after_ms=milliseconds)

    def for_ms(self, milliseconds: float) -> Sentence:
        """End so long after the beginning."""
        return self._with(for_ms=milliseconds)

    def after_frames(self, count: int) -> Sentence:
        """Begin once so many frames have passed, whatever they are."""
        return self._with(after_frames=count)

    def after_rule(self, rule: Rule | str, times: int = 1) -> Sentence:
        """Begin once another rule has fired so often."""
        return self._with(after_rule={"rule": str(rule), "times": times})

    def until_rule(self, rule: Rule | str, times: int = 1) -> Sentence:
        """End once another rule has fired so often."""
        return self._with(until_rule={"rule": str(rule), "times": times})

    def and_on(self) -> Sentence:
        """Allow rules behind this one to act on the frame too."""
        return self._with(go_on=True)

    # -- what becomes of them ----------------------------------------------------------------------

    def drop(self) -> Rule:
        return self._rule(drop=True)

    def watch(self) -> Rule:
        """Only count."""
        return self._rule(watch=True)

    def delay(
        self, milliseconds: float, *, jitter_ms: float = 0, distribution: str = "uniform"
    ) -> Rule:
        settings = {"ms": milliseconds, "jitter_ms": jitter_ms, "distribution": distribution}
        return self._rule(delay=settings if jitter_ms else milliseconds)

    def hold(self, *, at_most_ms: float, until: Rule | str | None = None) -> Rule:
        """Hold until ``until`` fires or the rule is released."""
        settings = {"at_most_ms": at_most_ms}
        return self._rule(hold={**settings, "until": str(until)} if until else settings)

    def duplicate(self, times: int = 2) -> Rule:
        """Send the frame so often in all."""
        return self._rule(duplicate=times)

    def reorder(self, window: int, *, at_most_ms: float = 1000) -> Rule:
        return self._rule(reorder={"window": window, "at_most_ms": at_most_ms})

    def set_correlation_id(self, to: int | None = None, *, by: int | None = None) -> Rule:
        settings = {"to": to, "by": by}
        given = {name: value for name, value in settings.items() if value is not None}
        return self._rule(set_correlation_id=given)

    def swap_correlation_ids(self, *, at_most_ms: float = 1000) -> Rule:
        """Swap the ids of two frames in a row."""
        return self._rule(swap_correlation_ids=at_most_ms)

    def truncate(self, at_byte: int, *, then: str = "close") -> Rule:
        """``then``: close, reset, end, go_on."""
        return self._rule(truncate={"at_byte": at_byte, "then": then})

    def lie_about_length(self, *, by: int | None = None, to: int | None = None) -> Rule:
        settings = {"by": by, "to": to}
        given = {name: value for name, value in settings.items() if value is not None}
        return self._rule(lie_about_length=given)

    def append(self, data: bytes, *, inside: bool = True) -> Rule:
        return self._rule(append={"hex": data.hex(), "inside": inside})

    def rewrite(self, changes: Mapping[str, Value]) -> Rule:
        """Rewrite fields: from paths to values."""
        return self._rule(rewrite=dict(changes))

    def fail_with(self, error: str | int) -> Rule:
        """Set every error code of a response; the broker has done what was requested."""
        return self._rule(rewrite={"**.error_code": error})

    def answer_error(self, error: str | int) -> Rule:
        """Answer with this error for all that the request names; the broker never sees it."""
        return self._rule(answer={"error": error})

    def answer(self, message: Mapping[str, Value]) -> Rule:
        """Answer with this message, in the dictionary form; the broker never sees the request."""
        return self._rule(answer={"message": message})

    def close(self, when: str = "before") -> Rule:
        """Close the connection. ``before``: the frame is lost; ``after``: it is the last."""
        return self._rule(close=when)

    def reset(self, when: str = "before") -> Rule:
        """Like close, by RST."""
        return self._rule(reset=when)

    def throttle(self, bytes_per_s: float) -> Rule:
        return self._rule(throttle=bytes_per_s)


def _one_or_list(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else list(values)

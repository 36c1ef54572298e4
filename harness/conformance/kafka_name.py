"""Target strings of Apache Kafka releases, ``kafka:2.8.2,mode=zk``, and ranges of them.

This room knows targets by their strings only; what stands here is the published form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from harness.conformance.dated import ReleaseNumbers, release_numbers

PREFIX = "kafka:"
MODES = ("zk", "kraft")
"""With ZooKeeper or without, in the order in which they came."""
_KRAFT_FROM: ReleaseNumbers = (3, 3)  # the first that Kafka calls ready for production; our default
_MODE, WITH = "mode", "with"
_BETWEEN = (WITH, "upgraded", "phase")
_MODE_OF_PHASE = {
    "zookeeper": "zk",
    "rolled-back": "zk",
    "kraft-brokers": "kraft",
    "finalized": "kraft",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaName:
    """One release: ``mode`` is what it says or what it means; ``options`` are all others."""

    release: str
    numbers: ReleaseNumbers
    mode: str
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRange:
    """All releases from ``first`` to ``last``, as far as they have these options."""

    first: ReleaseNumbers
    last: ReleaseNumbers
    mode: str | None
    options: Mapping[str, str]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, KafkaName):
            return False
        return (
            self.first <= name.numbers <= self.last
            and self.mode in {None, name.mode}
            and self.options.items() <= name.options.items()
        )


class NotARange(ValueError):
    """It has the form of a range and is none; the message says why."""


@lru_cache(maxsize=1024)
def kafka_name(target: str) -> KafkaName | None:
    """Read ``kafka:RELEASE[,NAME=VALUE...]``; None for every other string."""
    if not target.startswith(PREFIX):
        return None
    release, options = _split(target)
    numbers = release_numbers(release)
    if numbers is None:
        return None
    mode = options.pop(_MODE, _default_mode(numbers))
    return KafkaName(release=release, numbers=numbers, mode=mode, options=MappingProxyType(options))


def plain_targets(target: str) -> list[str]:
    """The targets of one release and one mode that a target between them behaves like.

    Of ``kafka:OLDER,with=NEWER,...`` the two releases, the older one first; of
    ``mode=migrating,phase=...`` the mode of its brokers, but none in dual write, where the brokers
    are of one mode and the controller of the other. None of every other string.
    """
    name = kafka_name(target)
    if name is None:
        return []
    others = {each: value for each, value in name.options.items() if each not in _BETWEEN}
    if WITH in name.options:
        releases = (name.release, name.options[WITH])
        return [_written(release, name.mode, others) for release in releases]
    mode = _MODE_OF_PHASE.get(name.options.get("phase", ""))
    return [] if mode is None else [_written(name.release, mode, others)]


def _written(release: str, mode: str, options: Mapping[str, str]) -> str:
    """The shortest string with these options."""
    numbers = release_numbers(release)
    is_usual = numbers is not None and mode == _default_mode(numbers)
    words = {**({} if is_usual else {_MODE: mode}), **options}
    return ",".join([f"{PREFIX}{release}", *(f"{each}={value}" for each, value in words.items())])


def _default_mode(numbers: ReleaseNumbers) -> str:
    return "kraft" if numbers[:2] >= _KRAFT_FROM else "zk"


def kafka_range(pattern: str) -> KafkaRange | None:
    """Read ``kafka:FIRST..LAST[,NAME=VALUE...]``, both ends included; None for other strings.

    Without ``mode=`` both modes are meant, and so on for every option.

    Raises:
        NotARange: an end is no release, or they stand the wrong way round.
    """
    if not pattern.startswith(PREFIX) or ".." not in pattern:
        return None
    ends, options = _split(pattern)
    first, _, last = ends.partition("..")
    numbers = release_numbers(first), release_numbers(last)
    for end, found in zip((first, last), numbers, strict=True):
        if found is None:
            raise NotARange(f'"{end}" is no release; write a range like kafka:0.8.0..0.9.0.1')
    low, high = (found for found in numbers if found is not None)
    if low > high:
        raise NotARange(f'"{ends}" runs backwards; write {last}..{first}')
    mode = options.pop(_MODE, None)
    if mode not in {None, *MODES}:
        raise NotARange(f'mode "{mode}" is none of {", ".join(MODES)}')
    return KafkaRange(first=low, last=high, mode=mode, options=MappingProxyType(options))


def _split(text: str) -> tuple[str, dict[str, str]]:
    release, *words = text.removeprefix(PREFIX).split(",")
    pairs = (word.partition("=") for word in words)
    return release, {name: value for name, _, value in pairs}

"""The conditions of a rule; each tests one thing and can show the value that it saw instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.codec.structs import Message
from harness.proxies.rules.field_path import FieldPath
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.mentions import TopicMention
from harness.proxies.rules.topic_ids import TopicIds
from harness.proxies.rules.wanted import WantedFrames, in_words

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Condition:
    """``holds`` is called for each frame, ``saw`` only for a miss; ``words``: the wanted value."""

    name: str
    words: str
    holds: Callable[[FrameView], bool]
    saw: Callable[[FrameView], str]

    def miss(self, frame: FrameView) -> str:
        """``topic is orders-2, not orders``."""
        return f"{self.name} is {self.saw(frame)}, not {self.words}"


def listed(values: Iterable[Any]) -> str:
    """Return the first of the values as text for people."""
    all_of_them = list(dict.fromkeys(str(value) for value in values))
    if not all_of_them:
        return "nothing"
    more = f" and {len(all_of_them) - _SHOWN} more" if len(all_of_them) > _SHOWN else ""
    return ", ".join(all_of_them[:_SHOWN]) + more


def value_in(name: str, wanted: tuple[Any, ...], read: Callable[[FrameView], Any]) -> Condition:
    """One value of the frame is one of these."""
    return Condition(
        name, listed(wanted), lambda frame: read(frame) in wanted, lambda frame: str(read(frame))
    )


def glob(patterns: tuple[str, ...]) -> Callable[[str | None], bool]:
    """A test for texts; ``*`` in a pattern stands for any characters."""
    parts = ("|".join(".*".join(map(re.escape, one.split("*"))) for one in patterns),)
    compiled = re.compile(parts[0], re.DOTALL)
    return lambda value: value is not None and compiled.fullmatch(value) is not None


def text_like(
    name: str, patterns: tuple[str, ...], read: Callable[[FrameView], Iterable[str | None]]
) -> Condition:
    """Any of the frame's texts is like one of these."""
    test = glob(patterns)
    return Condition(
        name,
        listed(patterns),
        lambda frame: any(map(test, read(frame))),
        lambda frame: listed(read(frame)),
    )


def groups(frame: FrameView) -> Iterator[str]:
    return (group for mentions in frame.mentions for group in mentions.groups)


def transactional_ids(frame: FrameView) -> Iterator[str]:
    return (one for mentions in frame.mentions for one in mentions.transactional_ids)


def replicas(frame: FrameView) -> Iterator[int]:
    return (one for mentions in frame.mentions for one in mentions.replicas)


def topics(frame: FrameView) -> Iterator[TopicMention]:
    return (topic for mentions in frame.mentions for topic in mentions.topics)


class Topics:
    """Topic, topic id and partition belong together: one mention must be all of it."""

    def __init__(
        self,
        ids: TopicIds,
        names: tuple[str, ...] = (),
        topic_ids: tuple[str, ...] = (),
        partitions: tuple[int, ...] = (),
    ) -> None:
        self.ids, self.topic_ids, self.partitions = ids, topic_ids, partitions
        self.names, self.is_name = names, glob(names) if names else None

    def condition(self) -> Condition:
        wanted = [listed(w) for w in (self.names, self.topic_ids) if w]
        wanted += [f"partition {listed(self.partitions)}"] if self.partitions else []
        name = "topic" if self.names or self.topic_ids else "partition"
        return Condition(name, ", ".join(wanted), self.holds, self.saw)

    def holds(self, frame: FrameView) -> bool:
        return any(map(self.meant, topics(frame)))

    def meant(self, topic: TopicMention) -> bool:
        if self.is_name and not self.is_name(topic.name or self.ids.name(topic.id)):
            return False
        if self.topic_ids and str(topic.id) not in self.topic_ids:
            return False
        return not self.partitions or any(one in self.partitions for one in topic.partitions)

    def saw(self, frame: FrameView) -> str:
        return listed(map(self.in_words, topics(frame)))

    def in_words(self, topic: TopicMention) -> str:
        name = topic.name or self.ids.name(topic.id)
        name = name or (f"id {topic.id} of unknown name" if topic.id else "partitions")
        return f"{name} {topic.partitions}" if topic.partitions else name


Bodies = Callable[[FrameView], Message | None]


def field_is(
    name: str, wanted: Mapping[type[Message], tuple[list[FieldPath], WantedFrames]], body: Bodies
) -> Condition:
    """Any value at the paths of the message's class is as wanted."""

    def values(frame: FrameView) -> Iterator[tuple[FieldPath, WantedFrames, Any]]:
        message = body(frame)
        if message is None or type(message) not in wanted:
            return
        paths, asked = wanted[type(message)]
        for path in paths:
            for value in path.values(message, frame.version):
                yield path, asked, value

    def holds(frame: FrameView) -> bool:
        return any(asked.test(value) for _, asked, value in values(frame))

    def saw(frame: FrameView) -> str:
        if body(frame) is None:
            return "in a message that cannot be read"
        return listed(in_words(value, path.field) for path, _, value in values(frame))

    return Condition(name, next(iter(wanted.values()))[1].words, holds, saw)

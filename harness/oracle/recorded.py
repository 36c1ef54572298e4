"""Conversations that a release of Apache Kafka had, with its responses as the expected ones.

``data/RELEASE.jsonl.gz`` has one conversation a line: the API that it is about, and for each step
the API, the version, the fields of the request, and the normal form of the response.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from harness.codec.apis import api_named
from harness.codec.versions import VersionRange
from harness.differential.conversation import Conversation, ConversationStep
from harness.differential.player import HOW, How, PlayedAnswer

DATA = Path(__file__).parent / "data"
Response = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedConversation:
    """A conversation, and for each step the response as `PlayedAnswer.compared` has it."""

    about: str
    conversation: Conversation
    responses: tuple[Response, ...]

    def served_part(self, served: Mapping[int, VersionRange]) -> RecordedConversation | None:
        """Return the steps before the first that a broker does not serve; None without any."""
        count = 0
        for step in self.conversation.steps:
            versions = served.get(api_named(step.api).key)
            if versions is None or step.version not in versions:
                break
            count += 1
        if not count:
            return None
        part = self.conversation.with_steps(self.conversation.steps[:count])
        return RecordedConversation(self.about, part, self.responses[:count])


@dataclass(slots=True)
class RecordedBroker:
    """A side of a comparison that responds as recorded. ``spec``: of the recorded broker."""

    spec: str
    responses: dict[str, Sequence[Response]] = field(default_factory=dict)

    def learn(self, recorded: RecordedConversation) -> Conversation:
        """Take in a conversation; return it."""
        self.responses[recorded.conversation.origin] = recorded.responses
        return recorded.conversation

    def play(
        self, conversation: Conversation, prefix: str, base_ms: int, *, patient: bool = False
    ) -> list[PlayedAnswer]:
        """Return the recorded responses; the conversation may lack its last steps only."""
        del prefix, base_ms, patient
        recorded = self.responses[conversation.origin][: len(conversation.steps)]
        return [_answer(one) for one in recorded]


def _answer(response: Response) -> PlayedAnswer:
    fields = dict(response)
    return PlayedAnswer(How(fields.pop(HOW)), meaning=fields)


def recorded_releases() -> list[str]:
    """Return the releases with a file."""
    return sorted(file.name.removesuffix(".jsonl.gz") for file in DATA.glob("*.jsonl.gz"))


@cache
def recorded_of(release: str) -> Mapping[str, tuple[RecordedConversation, ...]]:
    """Return the recorded conversations of a release by the API that they are about."""
    found: dict[str, list[RecordedConversation]] = {}
    with gzip.open(DATA / f"{release}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            one = _conversation(json.loads(line))
            found.setdefault(one.about, []).append(one)
    return {about: tuple(conversations) for about, conversations in found.items()}


def _conversation(value: Mapping[str, Any]) -> RecordedConversation:
    steps = [ConversationStep(api, version, fields) for api, version, fields, _ in value["steps"]]
    conversation = Conversation(value["origin"], tuple(steps))
    return RecordedConversation(
        value["about"], conversation, tuple(response for *_, response in value["steps"])
    )


def write_recorded(release: str, recorded: Iterable[RecordedConversation]) -> Path:
    """Write the file of a release; the same conversations make the same bytes."""
    lines = [json.dumps(_value(one), separators=(",", ":")) + "\n" for one in recorded]
    file = DATA / f"{release}.jsonl.gz"
    DATA.mkdir(exist_ok=True)
    file.write_bytes(gzip.compress("".join(lines).encode("utf-8"), mtime=0))
    return file


def _value(one: RecordedConversation) -> dict[str, Any]:
    steps = [
        [step.api, step.version, step.fields, response]
        for step, response in zip(one.conversation.steps, one.responses, strict=True)
    ]
    return {"about": one.about, "origin": one.conversation.origin, "steps": steps}

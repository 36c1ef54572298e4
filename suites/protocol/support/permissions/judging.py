"""The judgement of one row of the permission matrix at one version of its API."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.client.broker import BrokerUnderTest
from harness.codec.definition import ZERO_UUID
from harness.codec.structs import Message
from harness.conformance.checks import requirement
from suites.protocol.support.permissions import (
    of_cluster,
    of_configs,
    of_groups,
    of_newer_groups,
    of_tokens,
    of_topics,
    of_transactions,
)
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.matrix import Line, rows, values_at
from suites.protocol.support.permissions.scene import Scene
from suites.protocol.support.principals import ordinary_user
from suites.protocol.support.rights import give, require_authorizer, take_all

ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        **of_topics.ASKED,
        **of_groups.ASKED,
        **of_newer_groups.ASKED,
        **of_transactions.ASKED,
        **of_configs.ASKED,
        **of_cluster.ASKED,
        **of_tokens.ASKED,
    }
)
"""By the form of the row."""
NOTHING: tuple[object, ...] = (None, "", b"", [], 0, -1, -(2**31), ZERO_UUID)
"""Values of a field that show nothing."""


def judge_row(requirement_id: str, broker: BrokerUnderTest, version: int) -> None:
    """A user with the rights of each line, and no other, gets the answer of the line.

    A refused request changes nothing and shows nothing; a served one does both.
    """
    require_authorizer(broker)
    row = rows()[requirement_id]
    asked = ASKED[row.form]
    with ordinary_user(broker) as user:
        scene = Scene(broker, user)
        try:
            asked.prepare(scene)
            with requirement(requirement_id) as check:
                holds = False
                for number, line in enumerate(row.at(version)):
                    with check.subtest(f"{number}: {line.held}, {line.place}"):
                        if holds:
                            take_all(broker, user.principal)
                        scene.begin_line()
                        rights = scene.rights(line.held)
                        holds = bool(rights)
                        give(broker, user.principal, rights)
                        _judge_line(scene, asked, line, version)
        finally:
            take_all(broker, user.principal)
            scene.close()


def _judge_line(scene: Scene, asked: Asked, line: Line, version: int) -> None:
    before = asked.state(scene) if asked.state else None
    answer = _answer(scene, asked, line, version)
    found = line.found_in(answer)
    assert line.is_right(found, scene), line.told(found)
    shown = [value for value in _secrets(asked, answer) if value not in NOTHING]
    if line.refuses:
        assert not shown, f"the refusal shows {asked.secret}: {shown}"
        if asked.state:
            after = asked.state(scene)
            assert after == before, f"the refused request changed {before!r} to {after!r}"
    elif line.serves:
        assert shown or not asked.secret, f"the answer does not show {asked.secret}"
        if asked.state:
            state = asked.state
            scene.broker.eventually(lambda: state(scene) != before, f"{before!r} changes")


def _answer(scene: Scene, asked: Asked, line: Line, version: int) -> Message:
    """A right that was given is known to the broker, and a moment later to its controller."""

    def once() -> Message:
        answer: Message = scene.user.ask(asked.request(scene, version), version)
        return answer

    if line.refuses:
        return once()
    return scene.broker.last_seen(once, lambda one: line.is_right(line.found_in(one), scene), 5_000)


def _secrets(asked: Asked, answer: Message) -> list[object]:
    return list(values_at(answer, asked.secret)) if asked.secret else []

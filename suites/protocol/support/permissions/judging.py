"""The judgement of one row of the permission matrix at one version of its API."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.definition import ZERO_UUID
from harness.codec.structs import Message
from harness.conformance.checks import requirement
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.forms import ASKED
from suites.protocol.support.permissions.matrix import Line, rows, values_at
from suites.protocol.support.permissions.scene import Scene, scene_of
from suites.protocol.support.rights import give, require_authorizer, take_all

NOTHING: tuple[object, ...] = (None, "", b"", [], 0, -1, -(2**31), ZERO_UUID)
"""Values of a field that show nothing."""


def judge_row(requirement_id: str, broker: BrokerUnderTest, version: int) -> None:
    """A user with the rights of each line, and no other, gets the answer of the line.

    A refused request changes nothing and shows nothing; a served one does both.
    """
    require_authorizer(broker)
    row = rows()[requirement_id]
    asked = ASKED[row.form]
    with scene_of(broker) as scene:
        principal = scene.user.principal
        try:
            asked.prepare(scene)
            with requirement(requirement_id) as check:
                holds = False
                for number, line in enumerate(row.at(version)):
                    with check.subtest(f"{number}: {line.held}, {line.place}"):
                        if holds:
                            take_all(broker, principal)
                        scene.begin_line()
                        rights = scene.rights(line.held)
                        holds = bool(rights)
                        give(broker, principal, rights)
                        _judge_line(scene, asked, line, version)
        finally:
            take_all(broker, principal)


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

"""A start that can no longer succeed is ended, with the right error."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.targets.errors import TargetStartError
from harness.targets.kafka import server as server_module
from harness.targets.kafka.server import (
    EXPIRED,
    GIVEN_UP,
    PORT_TAKEN,
    STUCK,
    JavaServer,
)
from harness.targets.start_again import StartAgain, until_started
from tests.targets.round_trip import eventually


class Talker(JavaServer):
    """Print a line and then sleep; ``lines``: one for each start."""

    lines: list[str]

    def _command(self, archive_flags: Sequence[str]) -> list[str]:
        assert archive_flags == []
        return ["/bin/sh", "-c", f"echo {shlex.quote(self.lines.pop(0))}; exec sleep 600"]


@pytest.fixture
def talker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talker]:
    monkeypatch.setattr(server_module, "LOOK_INTERVAL_S", 0.0)
    monkeypatch.setattr(server_module, "GIVEN_UP_LIMIT_MS", 100)
    archive = SimpleNamespace(read_flags=list, is_usable=lambda: False)
    jvm = cast("Any", SimpleNamespace(archive=archive, environment=None))
    made = Talker("the talker", jvm, tmp_path, tmp_path / "log")
    yield made
    made.kill()


def check(talker: Talker) -> BaseException | None:
    try:
        talker.check_start()
    except (StartAgain, TargetStartError) as problem:
        return problem
    return None


def after(talker: Talker, line: str) -> BaseException | None:
    """The error that is raised once the line is printed; None without one."""
    talker.lines = [line]
    talker.launch()
    eventually(lambda: line in talker.log_text() or None, "it has spoken")
    return check(talker)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"INFO {STUCK[0]} [...] at /brokers/ids/1 a while back", StartAgain),
        (f"FATAL {GIVEN_UP[0]}Startable startup. {PORT_TAKEN[0]}", StartAgain),
        (f"FATAL {GIVEN_UP[0]} startup. {EXPIRED[0]} for /brokers/ids", StartAgain),
        (f"FATAL {GIVEN_UP[0]}Startable startup. No space left", TargetStartError),
        ("INFO started", type(None)),
    ],
)
def test_start_log_line_determines_error(talker: Talker, line: str, kind: type) -> None:
    assert isinstance(after(talker, line), kind)


def test_log_is_not_checked_after_server_answered(talker: Talker) -> None:
    assert after(talker, "INFO started") is None
    talker.answered()
    with talker.log_path.open("a") as log:
        log.write(STUCK[0])
    assert check(talker) is None


def test_log_of_earlier_start_is_ignored(talker: Talker) -> None:
    talker.lines = [STUCK[0], "INFO started"]

    def attempt() -> str:
        said = talker.lines[0]
        talker.launch()
        eventually(lambda: said in talker.log_text() or None, "it has spoken")
        talker.check_start()
        return said

    assert until_started("the talker", attempt, talker.kill) == "INFO started"

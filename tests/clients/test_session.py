"""A driver that dies, hangs, babbles or breaks the protocol ends a call with a clear error."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.clients import session
from harness.clients.calls import ClientFailed, ClientGone, DriverBroken
from harness.clients.vocabulary import ClientLacks
from labs.hang_limit import HANGS_AFTER_S
from tests.clients import bad_drivers
from tests.clients.bad_drivers import ANSWER, READ, REST, driver

SOON_S = 0.3


@pytest.mark.parametrize(
    ("program", "error", "said"),
    [
        (bad_drivers.DIES, ClientGone, r"list_topics: .* ended with status 7\nout of luck"),
        (bad_drivers.IS_KILLED, ClientGone, r"the process of the client ended by signal 9"),
        (bad_drivers.CLOSES_OUTPUT, ClientGone, r"the process of the client ended"),
        (bad_drivers.WRITES_NO_JSON, DriverBroken, r"list_topics: its answer is no JSON: 'hello'"),
        (bad_drivers.WRITES_NO_OBJECT, DriverBroken, r"one of answer, error, lacks: '\[1\]'"),
        (bad_drivers.WRITES_TWO_KINDS, DriverBroken, r"no object with one of answer, error, lacks"),
    ],
    ids=["dies", "is killed", "closes its output", "no JSON", "no object", "two kinds"],
)
def test_call_to_bad_driver_ends_with_its_reason(
    tmp_path: Path, program: str, error: type[Exception], said: str
) -> None:
    with driver(program, tmp_path, HANGS_AFTER_S) as client:
        with pytest.raises(error, match=said):
            client.call("list_topics")
        assert client.is_gone


def test_driver_that_hangs_is_killed_after_its_time(tmp_path: Path) -> None:
    with driver(bad_drivers.HANGS, tmp_path, SOON_S) as client:
        with pytest.raises(ClientGone, match=r"list_topics: no answer in 0.3 s"):
            client.call("list_topics")
        assert client.is_gone


def test_line_without_end_is_cut_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "LINE_BYTES", 50_000)
    with driver(bad_drivers.WRITES_WITHOUT_END, tmp_path, HANGS_AFTER_S) as client:
        with pytest.raises(DriverBroken, match=r"more than 50000 bytes without an end .*'xxx"):
            client.call("list_topics")


def test_line_that_no_call_requested_is_an_error_of_the_next_call(tmp_path: Path) -> None:
    with driver(bad_drivers.SPEAKS_UNASKED, tmp_path, HANGS_AFTER_S) as client:
        assert client.call("list_topics") == 1
        with pytest.raises(DriverBroken, match=r"before poll it wrote, without a call: 'and more"):
            client.call("poll")


def test_log_of_babbling_driver_has_a_limit_and_keeps_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "LOG_BYTES", 10_000)
    with driver(bad_drivers.FLOODS_ITS_LOG, tmp_path, HANGS_AFTER_S) as client:
        assert client.call("list_topics") == 1
        with pytest.raises(ClientGone, match=r"yyyend"):
            client.call("list_topics")
    assert (tmp_path / "driver.log").stat().st_size == 10_000


def test_error_and_missing_function_of_client_differ(tmp_path: Path) -> None:
    program = READ + 'print(\'{"lacks": "no groups"}\', flush=True)\n'
    program += 'sys.stdin.readline()\nprint(\'{"error": "refused"}\', flush=True)\n' + REST
    with driver(program, tmp_path, HANGS_AFTER_S) as client:
        with pytest.raises(ClientLacks, match=r"join: no groups"):
            client.call("join")
        with pytest.raises(ClientFailed, match=r"poll: refused"):
            client.call("poll")
        assert not client.is_gone


def test_end_of_input_ends_the_driver(tmp_path: Path) -> None:
    program = READ + ANSWER + REST + "sys.stderr.write('goodbye')\n"
    with driver(program, tmp_path, HANGS_AFTER_S) as client:
        client.call("list_topics")
    assert (tmp_path / "driver.log").read_text("utf-8") == "goodbye"

"""Start of a broker of any kind by a file: its arguments, and the errors of a failed start."""

import socket
from pathlib import Path

import pytest

from harness.targets import command
from harness.targets.command import CommandTarget
from harness.targets.errors import MissingCapability, TargetError, TargetStartError
from harness.targets.info import probe
from harness.targets.ports import free_ports
from tests.targets.kinds import ROOT, command_target, write_command_file

STAND_IN = ["{python}", "-m", "tests.targets.stand_in", "port={port}"]


def log_of(target: CommandTarget) -> str:
    assert target.log_path is not None
    return target.log_path.read_text()


def test_command_receives_port_folder_and_environment(tmp_path: Path) -> None:
    with command_target(tmp_path, environment={"STAND_IN_COLOUR": "{port}"}) as target:
        port, folder = target.addresses[0].port, target.data_dir
        assert folder is not None
        assert folder.is_dir()
        assert f"'port': '{port}', 'data': '{folder}'" in log_of(target)
        assert target.pid is not None
        environment = Path(f"/proc/{target.pid}/environ").read_bytes().split(b"\0")
        assert f"STAND_IN_COLOUR={port}".encode() in environment
    assert not folder.exists()


def test_settings_reach_private_broker_only(tmp_path: Path) -> None:
    changes = {"capabilities": ["own_broker", "broker_config"], "setting": ["{name}={value}"]}
    with command_target(tmp_path, **changes) as target:
        with target.start_another({"colour": "red"}) as mine:
            assert isinstance(mine, CommandTarget)
            assert "'colour': 'red'" in log_of(mine)
        assert "colour" not in log_of(target)


def test_setting_outside_list_raises_missing_capability(tmp_path: Path) -> None:
    changes = {"capabilities": ["own_broker", "broker_config"], "setting": ["{name}={value}"]}
    with command_target(tmp_path, **changes, settings=["colour"]) as target:
        with target.start_another({"colour": "red"}) as mine:
            assert isinstance(mine, CommandTarget)
            assert "'colour': 'red'" in log_of(mine)
        with pytest.raises(MissingCapability, match="broker_config"):
            target.start_another({"colour": "red", "shape": "round"})


def test_private_broker_without_capability_raises_missing_capability(tmp_path: Path) -> None:
    with command_target(tmp_path, capabilities=[]) as target:
        with pytest.raises(MissingCapability):
            target.start_another()


def test_release_command_is_run_once_and_gives_release(tmp_path: Path) -> None:
    words = ["{python}", "-c", "print('a banner'); print('  7.8.9 '); print()"]
    target = command_target(tmp_path, release=None, release_command=words)
    assert target.release == "unknown"
    with target:
        assert probe(target).release == "7.8.9"
        with target.start_another() as mine:
            assert mine.release == "7.8.9"
    assert len(list(tmp_path.glob("*release*.log"))) == 1, "asked once"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("print('no idea'); raise SystemExit(4)", "status 4; its log .*\n    no idea"),
        ("", "status 0 and said nothing"),
        ("import time; time.sleep(600)", "did not end within 300 ms"),
    ],
    ids=["fails", "silent", "hangs"],
)
def test_failing_release_command_raises_target_start_error(
    tmp_path: Path, code: str, says: str
) -> None:
    target = command_target(
        tmp_path,
        release=None,
        release_command=["{python}", "-c", code],
        limits={"release_timeout_ms": 300 if "sleep" in code else 20_000},
    )
    with pytest.raises(TargetStartError, match=f"release_command: .*{says}"):
        target.start()


@pytest.mark.parametrize("program", ["no-such-broker", "./no-such-broker", "/", "./stand-in.toml"])
def test_missing_program_raises_target_error(tmp_path: Path, program: str) -> None:
    with pytest.raises(
        TargetError, match=r"stand-in\.toml: command: there is no program"
    ) as caught:
        command_target(tmp_path, command=[program, "{port}"], working_directory=".")
    assert repr(program) in str(caught.value)


def test_relative_program_is_found_next_to_command_file(tmp_path: Path) -> None:
    script = tmp_path / "broker.sh"
    script.write_text(f"#!/bin/sh\ncd {ROOT}\nexec $PYTHON -m tests.targets.stand_in port=$1\n")
    script.chmod(0o755)
    changes = {"working_directory": None, "environment": {"PYTHON": "{python}"}}
    with command_target(tmp_path, command=["./broker.sh", "{port}"], **changes) as target:
        assert target.is_alive()


def test_program_is_looked_up_on_path_of_environment(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"no program 'sh' \(looked for on PATH\)"):
        command_target(tmp_path, command=["sh", "{port}"], environment={"PATH": str(tmp_path)})


def test_missing_working_directory_raises_target_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"working_directory: .*gone is no folder"):
        command_target(tmp_path, working_directory="gone")


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("exit", "stand-in ended before it answered, with status 3; its log .*\n.*has enough"),
        ("silent", "does not answer as a Kafka broker within .* of stand-in ends with\n *stand-in"),
    ],
)
def test_broker_that_never_answers_raises_target_start_error(
    tmp_path: Path, mode: str, says: str
) -> None:
    target = command_target(
        tmp_path,
        command=[*STAND_IN, f"mode={mode}"],
        limits={"start_timeout_ms": 2_500 if mode == "silent" else 20_000},
    )
    with pytest.raises(TargetStartError, match=f"(?s){says}"):
        target.start()
    assert not target.is_alive()
    assert target.data_dir is None


def test_missing_readiness_line_raises_target_start_error(tmp_path: Path) -> None:
    target = command_target(
        tmp_path,
        command=[*STAND_IN[:3], "mode=mute"],
        readiness={"line": r"^listening on (?P<host>\S+):(?P<port>\d+)$"},
        limits={"start_timeout_ms": 1_500},
    )
    with pytest.raises(TargetStartError, match=r"did not print a line that matches '\^listening"):
        target.start()


def test_invalid_readiness_address_raises_target_error(tmp_path: Path) -> None:
    target = command_target(tmp_path, readiness={"address": "127.0.0.1:{port}{port}"})
    with pytest.raises(TargetError, match=r"readiness\.address: .*(no port|is not HOST:PORT)"):
        target.start()


def test_start_on_taken_port_retries_with_other_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        choices = iter([[other.getsockname()[1]], free_ports(1)])
        monkeypatch.setattr(command, "free_ports", lambda _: next(choices))
        with command_target(tmp_path) as target:
            assert target.addresses[0].port != other.getsockname()[1]
    assert len(list(tmp_path.glob("*.log"))) == 2


POLITE = """
import signal, sys
from tests.targets.stand_in import main
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("bye")))
main(["port={port}"])
"""


def test_stop_timeout_lets_broker_end_on_sigterm(tmp_path: Path) -> None:
    words = ["{python}", "-c", POLITE]
    with command_target(tmp_path, command=words, limits={"stop_timeout_ms": 20_000}) as target:
        pass
    assert "bye" in log_of(target)


def test_command_file_path_is_relative_to_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_command_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    from harness.targets.spec import parse_target

    with parse_target("command:stand-in.toml", log_dir=tmp_path) as target:
        assert target.spec == "command:stand-in.toml"
        assert target.is_alive()

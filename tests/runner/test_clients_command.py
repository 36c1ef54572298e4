"""``clients``: pairs of a client and a broker, and the side that a failure belongs to."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.client.broker import BrokerUnderTest
from harness.clients.known import parse_client
from harness.codec.versions import VersionRange
from harness.commands import client_pairs
from harness.commands.client_pairs import own_broker
from harness.commands.judging import judge_target, suite_folders, suites_root
from harness.conformance.found_runs import find_runs
from harness.conformance.outcome import NotSupported
from harness.conformance.verdict import Verdict
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.runner.asked_clients import AskedClients
from harness.targets.java import JavaError
from harness.targets.proxied import proxied
from harness.targets.spec import parse_target
from labs.client_defects.records import an_empty_key_is_null
from tests.clients import bad_drivers

ONES = ("kafka-python", "confluent-kafka")
CHOSEN = ("CLIENT-007", "CLIENT-013")
PASSED, FAILED = Verdict.PASSED.value, Verdict.FAILED.value


def test_failure_at_one_broker_alone_is_the_failure_of_the_pair(tmp_path: Path) -> None:
    words = [word for name in ONES for word in ("--client", name)]
    words += [word for name in CHOSEN for word in ("--requirement", name)]
    rule = an_empty_key_is_null.rule()
    with parse_target("reference", log_dir=tmp_path / "logs") as right:
        with proxied(right, interceptor=FrameRuleInterceptor(rule)) as wrong:
            spec = f"external:{wrong.bootstrap}"
            words += ["--at", "reference", "--target", spec, "--jobs", "1", "--json"]
            done = CliRunner().invoke(main, ["clients", *words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert [one["requirements"] for one in found["pairs"]] == [
        {"CLIENT-007": PASSED, "CLIENT-013": FAILED}
    ] * len(ONES)
    for pair in found["pairs"]:
        assert pair["reasons"]["CLIENT-013"] == (
            "partition 0, record 1: {'key': None} was read, {'key': ''} was sent"
        )
    columns = find_runs(tmp_path / "out").newest_by_target()
    assert sorted(columns) == sorted(f"{one['client']} on {spec}" for one in found["pairs"])
    first = find_runs(tmp_path / "out" / "at").newest_by_target()
    assert sorted(first) == sorted(f"{one['client']} on reference" for one in found["pairs"])


PROGRAM = """
import pathlib
started = pathlib.Path("started")
number = int(started.read_text()) if started.exists() else 0
started.write_text(str(number + 1))
exec(PROGRAMS[number])
"""
"""A driver: its first process is wrong in the first way, and so on."""


def a_driver(folder: Path, programs: list[str]) -> Path:
    (folder / "driver.py").write_text(f"PROGRAMS = {programs!r}\n{PROGRAM}", "utf-8")
    file = folder / "driver.toml"
    command = json.dumps([sys.executable, "-S", "-E", "driver.py"])
    file.write_text(f'name = "bad"\nrelease = "1"\ncommand = {command}\n', "utf-8")
    return file


def test_each_way_of_a_bad_driver_has_its_verdict(tmp_path: Path) -> None:
    programs = [bad_drivers.DIES, bad_drivers.WRITES_NO_JSON, bad_drivers.HANGS]
    file = a_driver(tmp_path, programs)
    options = [str(suites_root() / "suites" / "clients"), "--client", str(file)]
    options += ["--client-answer-s", "0.5"]
    chosen = ("CLIENT-007", "CLIENT-012", "CLIENT-013", "CLIENT-014")
    options += [word for name in chosen for word in ("--requirement", name)]
    judged = judge_target("reference", options, tmp_path / "out", lambda _: None)
    assert judged.summary is not None, judged.problem
    checks = [one.checks[0] for one in judged.summary.requirements.values()]
    by_time = sorted(checks, key=lambda check: check.at)
    assert [check.verdict for check in by_time] == [
        Verdict.FAILED,
        Verdict.HARNESS_ERROR,
        Verdict.FAILED,
        Verdict.INCONCLUSIVE,
    ]
    for check, said in zip(
        by_time,
        (
            "create_topic: the process of the client ended with status 7\nout of luck",
            "DriverBroken: create_topic: its answer is no JSON: 'hello'",
            "create_topic: no answer in",
            "bad-1 ended, or did not answer, in 3 cases in a row",
        ),
        strict=True,
    ):
        assert check.reason.startswith(said), check.reason


def test_unknown_client_or_missing_java_ends_with_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["clients", "--out", str(tmp_path), "--client"]
    done = CliRunner().invoke(main, [*words, "kafka-pyton"])
    assert done.exit_code == 2
    assert 'did you mean "kafka-python"' in done.output

    def no_java(*_: object) -> None:
        raise JavaError("no Java 17 or newer was found")

    monkeypatch.setattr("harness.clients.official.find_java", no_java)
    monkeypatch.setattr("harness.clients.java_program.JavaProgram.classes", no_java)
    done = CliRunner().invoke(main, [*words, "java-4.4.0"])
    assert done.exit_code == 2
    assert "no Java 17 or newer was found" in done.output


def test_first_broker_shares_all_apis_with_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    java = parse_client("java-4.4.0")
    monkeypatch.setattr(client_pairs, "find_java", lambda: None)
    assert own_broker(java) == "kafka:4.4.0"
    monkeypatch.setattr(client_pairs, "_shares_all", lambda _, release: release == "2.8.2")
    assert own_broker(java) == "kafka:2.8.2"

    def no_java() -> None:
        raise JavaError("none")

    monkeypatch.setattr(client_pairs, "find_java", no_java)
    assert own_broker(java) == "reference"


class _Config:
    """As much of pytest's configuration as AskedClients reads."""

    def __init__(self, **options: object) -> None:
        self._options = options

    def getoption(self, name: str) -> object:
        return self._options[name]


def _asked(word: str) -> AskedClients:
    config = _Config(client=word, client_failures=None, client_answer_s=1.0)
    return AskedClients(config)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "release", "needs", "said"),
    [
        ("java-4.4.0", "0.10.2.2", {"Produce": "3+"}, r"Produce 3\+: java-4.4.0 has 3.*broker 0-2"),
        ("java-4.4.0", "2.8.2", {"ConsumerGroupHeartbeat": "0+"}, r"the broker none"),
        ("java-3.9.x", "0.10.2.2", {"Produce": "3+"}, r"Produce 3\+: the broker 0-2"),
    ],
)
def test_pair_without_common_version_is_not_supported(
    word: str, release: str, needs: Mapping[str, str], said: str
) -> None:
    broker = BrokerUnderTest([], EmulatedRelease.of(release).api_versions)
    asked = {api: VersionRange.parse(text) for api, text in needs.items()}
    with pytest.raises(NotSupported, match=said):
        _asked(word).require_versions(asked, broker)
    _asked(word).require_versions({"Metadata": VersionRange.parse("0+")}, broker)


def test_suite_of_clients_needs_a_client_and_no_other_run_has_it(tmp_path: Path) -> None:
    assert not any(folder.endswith("clients") for folder in suite_folders([]))
    folder = str(suites_root() / "suites" / "clients")
    judged = judge_target("reference", [folder], tmp_path, lambda _: None)
    assert judged.summary is None
    assert "asks a client of another project: --client NAME" in judged.problem

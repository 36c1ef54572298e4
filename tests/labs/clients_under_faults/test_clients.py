"""A short sample of the schedules, and that the whole can fail: docs/clients-under-faults.md."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.histories.history import ClientAction, OperationOutcome
from harness.histories.judgement import Anomaly, HistoryVerdict
from harness.targets.spec import parse_target
from labs.clients_under_faults.findings import FINDINGS, Known
from labs.clients_under_faults.one_client import DRIVERS
from labs.clients_under_faults.run import FaultRun, Setting, run_client
from labs.clients_under_faults.schedule import (
    ClientWorkload,
    FaultSchedule,
    ScheduledFault,
    schedule,
)
from labs.clients_under_faults.table import FaultTable

pytestmark = pytest.mark.sample(4)

SEEDS = (3, 5, 8)
ON_KAFKA = (3,)
TRIES = 3  # which batch is under way when time is over is not ours to say
LIMIT_S = 60.0  # a machine that does much else at the same time

ANSWERS_ARE_LOST = FaultSchedule(
    seed=0,
    workload=ClientWorkload(200, 1, 20, 0, 500, 1, 60_000),
    faults=(
        ScheduledFault(
            at_ms=500,
            for_ms=2500,
            kind="rule",
            words={"id": "lost", "on": "response", "api": "Produce", "first": 3, "close": "before"},
        ),
    ),
)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    folder = tmp_path_factory.mktemp("clients")
    with parse_target("reference", log_dir=folder / "logs") as target:
        yield Setting(target, folder, limit_s=LIMIT_S)


def without_idempotence(setting: Setting) -> Setting:
    return Setting(setting.target, setting.folder, idempotent=False, limit_s=setting.limit_s)


def told(run: FaultRun) -> str:
    """The message of a test that fails."""
    found = [run.judgement.why, *map(str, run.judgement.findings)]
    return "\n".join([run.client, str(run.schedule), *found, str(run.why_not_sent), run.log])


def all_valid(setting: Setting, seeds: tuple[int, ...]) -> None:
    wanted = [(client, schedule(seed)) for seed in seeds for client in DRIVERS]
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda pair: run_client(pair[0], pair[1], setting), wanted))
    for run in runs:
        assert run.judgement.verdict is HistoryVerdict.VALID, told(run)
    assert FaultTable(setting.target.spec, runs, True, 0.0).good
    assert sum(run.struck for run in runs) > 0


@pytest.mark.slow
@pytest.mark.rotates(20)
def test_clients_under_faults_have_valid_histories(reference: Setting) -> None:
    all_valid(reference, SEEDS)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
def test_clients_under_faults_have_valid_histories_on_real_kafka(tmp_path: Path) -> None:
    with parse_target("kafka:4.4.0", log_dir=tmp_path / "logs") as target:
        all_valid(Setting(target, tmp_path, limit_s=LIMIT_S), ON_KAFKA)


@pytest.mark.slow
@pytest.mark.rotates(20)
@pytest.mark.parametrize("client", DRIVERS)
def test_lost_responses_cause_duplicates_only_without_idempotence(
    reference: Setting, client: str
) -> None:
    careless = run_client(client, ANSWERS_ARE_LOST, without_idempotence(reference))
    assert careless.judgement.verdict is HistoryVerdict.INVALID, told(careless)
    assert Anomaly.DUPLICATE in careless.judgement.anomalies
    assert careless.struck
    careful = run_client(client, ANSWERS_ARE_LOST, reference)
    assert careful.judgement.verdict is HistoryVerdict.VALID, told(careful)
    assert careful.struck
    assert careful.sends[OperationOutcome.OK] == careful.sends[OperationOutcome.INVOKE] == 200


def test_client_beyond_time_limit_is_killed_and_stuck(reference: Setting) -> None:
    short = FaultSchedule(0, ANSWERS_ARE_LOST.workload, (ScheduledFault(0, 0, "reset", {}),))
    hurried = Setting(reference.target, reference.folder, limit_s=0.1)
    run = run_client("confluent-kafka", short, hurried)
    assert run.judgement.anomalies == {Anomaly.STUCK: 1}, told(run)
    *_, last = (one for one in run.history if one.action is ClientAction.FINISH)
    assert "for 0 s no progress" in last.detail
    assert "one_client.py" in run.log  # where its threads were


def test_client_that_does_not_start_has_verdict_unknown(reference: Setting) -> None:
    run = run_client("no-such-client", ANSWERS_ARE_LOST, reference)
    assert run.judgement.verdict is HistoryVerdict.UNKNOWN
    assert "the client did not start" in run.judgement.why


def shows(known: Known, setting: Setting) -> bool:
    for _ in range(TRIES):
        judgement = run_client(known.client, known.schedule, setting).judgement
        if known.shows in {judgement.verdict, *judgement.anomalies}:
            return True
    return False


@pytest.mark.slow
@pytest.mark.deep  # whether a client shows it depends on the pace of the machine
def test_known_client_findings_still_occur(reference: Setting) -> None:
    """Where it is not, a client has got better: docs/findings/clients.md wants to know."""
    hurried = Setting(reference.target, reference.folder, limit_s=15.0)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda known: shows(known, hurried), FINDINGS.values()))
    assert dict(zip(FINDINGS, found, strict=True)) == dict.fromkeys(FINDINGS, True)

"""The traffic of other clients changes no verdict about a broker."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.targets.kafka.target import KafkaTarget
from harness.targets.reference import ReferenceBroker
from harness.targets.target import Target
from tests.runner.other_traffic import KINDS, OtherTraffic, Round, transactions
from tests.sweep.brokers import client
from tests.targets import kinds

LIMIT_S = 1_800
BUILT_IN = "built-in"
RELEASES = [
    BUILT_IN,
    *(pytest.param(each, marks=pytest.mark.kafka) for each in ("2.8.2", "3.9.2", "4.4.0")),
]
AREAS = [
    *("APIV", "CONF", "COORD", "DELR", "FETCH", "GRP", "IDEM"),
    *("LISTO", "META", "OFFS", "PROD", "QUOTA", "TOPIC"),
]
"""Areas with promises about more than one connection or one log."""

Verdicts = dict[tuple[str, int], tuple[str, str]]
"""Verdict and reason, by case and check."""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not transactions])
def test_each_kind_of_traffic_completes(kind: Round, broker_address: str) -> None:
    """All kinds except transactions, which the built-in broker does not serve."""
    host, port = broker_address.split(":")
    with closing(client((host, int(port)), "strangers")) as asked:
        kind(asked)


def _target(release: str, folder: Path) -> Target:
    if release == BUILT_IN:
        return ReferenceBroker(log_dir=folder)
    kinds.need_kafka(release)
    return KafkaTarget(release, log_dir=folder)


def _verdicts(folder: Path, target: Target, release: str) -> Verdicts:
    """The verdicts of the tests that share a broker with others."""
    folder.mkdir()
    access = folder / "access.toml"
    access.write_text(f'implementation = "Apache Kafka"\nrelease = "{release}"\n')
    words = ["run", "--target", f"external:{target.addresses[0]},profile={access}"]
    words += ["--out", str(folder), "--versions", "ends", "--suite", "protocol"]
    words += [word for area in AREAS for word in ("--requirement", f"{area}-*")]
    command = [sys.executable, "-P", "-m", "harness.cli", *words]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode in (0, 1), ended.stdout + ended.stderr
    (journal,) = folder.glob(f"runs/*/{JOURNAL_NAME}")
    checks = read_journal(journal).checks
    return {(each.case, each.check): (each.verdict.value, each.reason) for each in checks}


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_traffic_of_other_clients_changes_no_verdict(release: str, tmp_path: Path) -> None:
    """The same broker is judged twice: alone, and while it serves others."""
    with _target(release, tmp_path) as target:
        alone = _verdicts(tmp_path / "alone", target, release)
        address = (target.addresses[0].host, target.addresses[0].port)
        with OtherTraffic(client(address, "strangers")) as others:
            beside = _verdicts(tmp_path / "beside", target, release)
    silent = {kind.__name__ for kind in KINDS} - others.rounds.keys() - others.not_served
    assert not silent, f"no round of {sorted(silent)} was whole: {others.rounds}"
    assert beside.keys() == alone.keys()
    changed = {
        case: (before, beside[case])
        for case, before in alone.items()
        if beside[case][0] != before[0]
    }
    assert not changed, f"beside {dict(others.rounds)}: {changed}"

"""A run is known only where the finding is that of its client, and its records had little time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.histories.checker import NOTHING_ACKNOWLEDGED
from harness.histories.judgement import Anomaly, FoundAnomaly, HistoryVerdict, Judgement
from labs.clients_under_faults.findings import FINDINGS
from labs.clients_under_faults.known_runs import ALL_GIVEN_UP, known
from labs.clients_under_faults.run import FaultRun
from labs.clients_under_faults.table import FaultTable

SHORT = FINDINGS["no-new-producer-id"].schedule
LONG = replace(SHORT, workload=replace(SHORT.workload, delivery_timeout_ms=60_000))
VALID, GIVEN_UP = (
    Judgement(HistoryVerdict.VALID),
    Judgement(HistoryVerdict.UNKNOWN, why=NOTHING_ACKNOWLEDGED),
)


def invalid(*anomalies: Anomaly) -> Judgement:
    return Judgement(HistoryVerdict.INVALID, tuple(FoundAnomaly(anomaly) for anomaly in anomalies))


DUPLICATE, STUCK = invalid(Anomaly.DUPLICATE), invalid(Anomaly.STUCK)
BOTH = invalid(Anomaly.DUPLICATE, Anomaly.LOST_WRITE)


@pytest.mark.parametrize(
    ("client", "judgement", "name"),
    [
        ("confluent-kafka", DUPLICATE, "duplicates-after-a-timeout"),
        ("kafka-python", STUCK, "no-new-producer-id"),
        ("aiokafka", GIVEN_UP, ALL_GIVEN_UP),
        ("confluent-kafka", STUCK, None),
        ("kafka-python", DUPLICATE, None),
        ("aiokafka", DUPLICATE, None),
        ("confluent-kafka", BOTH, None),
        ("confluent-kafka", Judgement(HistoryVerdict.UNKNOWN, why="not run"), None),
        ("confluent-kafka", VALID, None),
    ],
)
def test_known_finding_matches_client_anomaly_and_short_timeout(
    client: str, judgement: Judgement, name: str | None
) -> None:
    run = FaultRun(client, SHORT, judgement=judgement)
    assert known(run) == name
    assert known(replace(run, schedule=LONG)) is None
    is_good = judgement is VALID or name is not None
    assert FaultTable("reference", [run], True, 0.0).good == is_good
    assert FaultTable("reference", [run], False, 0.0).good == (judgement is VALID)

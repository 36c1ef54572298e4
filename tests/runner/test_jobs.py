"""The number of test processes that ``--jobs fit`` starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.commands.jobs import FIT, Share, cores_here, fitting, jobs_for, share_of
from harness.targets.spec import parse_target

MANY = 10_000


@pytest.mark.parametrize(
    ("cores", "memory_mib", "tests", "expected"),
    [
        (2, MANY, MANY, 6),
        (0.5, MANY, MANY, 1),
        (64, MANY, MANY, 12),
        (2, 450, MANY, 4),
        (2, 10, MANY, 1),
        (2, MANY, 8, 2),
        (2, MANY, 1, 1),
    ],
    ids=["cores", "half a core", "at most", "memory", "no memory", "few tests", "one test"],
)
def test_jobs_fit_cores_memory_and_number_of_tests(
    cores: float, memory_mib: int, tests: int, expected: int
) -> None:
    share = Share(per_core=3, memory_mib=100, at_most=12)
    assert fitting(share, cores=cores, memory_mib=memory_mib, tests=tests) == expected


def test_kafka_target_gets_fewer_jobs_per_core_than_reference() -> None:
    ours, kafka = (share_of(parse_target(spec)) for spec in ("reference", "kafka:4.4.0"))
    assert ours.per_core > kafka.per_core
    assert ours.memory_mib < kafka.memory_mib


@pytest.mark.parametrize("spec", ["external:127.0.0.1:9092", "by-document"])
def test_external_and_by_document_targets_get_one_job(spec: str) -> None:
    assert jobs_for(parse_target(spec), FIT, MANY) == "1"


@pytest.mark.parametrize("jobs", ["3", "auto"])
def test_explicit_jobs_option_is_used(jobs: str) -> None:
    assert jobs_for(parse_target("reference"), jobs, 1) == jobs


@pytest.mark.parametrize(("text", "below"), [("50000 100000\n", 0.6), ("max 100000\n", None)])
def test_container_cpu_quota_limits_cores(tmp_path: Path, text: str, below: float | None) -> None:
    file = tmp_path / "cpu.max"
    without = cores_here(file)
    file.write_text(text)
    assert cores_here(file) < below if below else cores_here(file) == without

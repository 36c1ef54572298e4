"""The gate: what every commit passes, within 15 minutes on two cores."""

from __future__ import annotations

from checks.clock_lane import TOO_SLOW
from checks.defect_parts import drawn_parts
from checks.part import Command, Lane, Part, command
from harness.conformance.gate import GateExit
from labs.defects.row_items import CLUSTER_SUITES

WAITS, ALONE = Lane.WAITS, Lane.ALONE
PYTEST = ("pytest", "-p", "no:cacheprovider")
CONTAINERS, CLIENTS = "tests/targets/containers", "tests/labs/clients"
"""Folders that run at depth, as parts of their own."""
REPORTS = "tests/reports"
"""A part of its own: one process, so that all of its tests share one Spark session."""
CLOCK_FILES = ("tests/proxies/engine/test_steps.py",)
"""Every file of ``tests`` with a test that is marked ``clock``; the reading of all takes longer."""
BROKER_TESTS = ("tests/reference_broker", "tests/oracle", "tests/log_tools")
PROCESS_TESTS = (
    *("tests/runner", "tests/targets", "tests/proxies", "tests/negotiation", "tests/power_loss"),
)
"""Folders of parts of their own: most of their time they wait for brokers and other processes."""
DEEP_FOLDERS = tuple(f"--ignore={folder}" for folder in (CONTAINERS, CLIENTS))
APART = tuple(f"--ignore={folder}" for folder in (REPORTS, *BROKER_TESTS, *PROCESS_TESTS))
WORKERS = ("--dist", "worksteal", "-n")
RECORDED_MUTANTS = "16"
"""The number of mutants that must be noticed again."""
PRIVATE_SHARE = ("-p", "checks.private_share", "--private-share", "16", "--private-draw", "{draw}")
"""On a real Kafka each private broker costs a JVM: one in sixteen of these tests runs."""
DRAWN_VERSIONS = (
    *("-p", "checks.drawn_versions", "--one-version-in", "16"),
    *("--versions-drawn-by", "{draw}"),
)
"""Both ends of each range of versions, and a drawn sixteenth of the versions between."""
OF_A_SAMPLE = (GateExit.OK, GateExit.KNOWN_FAILURE_PASSED, GateExit.VANISHED)
"""Exit codes of a gate over a sample: it may lack the case that a profile knows to fail. Failures
and incomplete runs take precedence over these codes."""
ON_KAFKA = (*PYTEST, *PRIVATE_SHARE, "--versions", "ends", *WORKERS, "2")

GATE = (
    Part(
        "lint",
        (
            command("ruff", "check", "."),
            command("ruff", "format", "--check", "."),
            command("python", "-m", "harness.codec.stubs", "--check"),
            command("lint-imports"),
        ),
    ),
    Part(
        "types",
        (command("mypy", "bench", "checks", "harness", "labs", "reports", "suites", "tests"),),
    ),
    Part(
        "tests",
        # One process: it gets most of a processor, and each worker would import all tests.
        (command(*PYTEST, "tests", *DEEP_FOLDERS, *APART, "--draw", "{draw}"),),
    ),
    Part("report_tests", (command(*PYTEST, REPORTS, "--draw", "{draw}"),)),
    Part(
        "suites",
        (
            command(
                *(*PYTEST, "suites", "--target", "reference", "--grease", *WORKERS, "3"),
                *(*DRAWN_VERSIONS, "-p", "checks.case_slice", "--slice", "{quarter}"),
                *("--functions", "--sliced", "suites/protocol/specification"),
                *("--random-order", "--random-order-seed", "{number}", "--out", "{out}"),
            ),
        ),
        lane=WAITS,
        goes_first=True,
    ),
    Part(
        "cluster",
        (
            command(
                *(*PYTEST, *CLUSTER_SUITES, "suites/protocol", *DRAWN_VERSIONS, "-n", "3"),
                *("-p", "checks.case_slice", "--slice", "{sixteenth}"),
                *("--sliced", "suites/protocol"),
                *("--target", "reference,nodes=3", "--out", "{out}/cluster"),
            ),
            command("kafka-conformance", "gate", "{out}/cluster"),
        ),
        lane=WAITS,
    ),
    Part(
        "broker_tests",
        (command(*PYTEST, *BROKER_TESTS, "--draw", "{draw}"),),
        lane=WAITS,
    ),
    *drawn_parts(),
    Part(
        "process_tests",
        (command(*PYTEST, *PROCESS_TESTS, *DEEP_FOLDERS, "--draw", "{draw}"),),
        lane=WAITS,
    ),
    Part(
        "release",
        (
            Command(
                (
                    *(*ON_KAFKA, "-p", "checks.case_slice", "--slice", "{eighth}"),
                    *("suites/protocol", "--target", "kafka:{release}", "--out", "{out}/release"),
                ),
                passes_with=(0, 1),
            ),
            command(
                *("kafka-conformance", "gate", "{out}/release"),
                *("--profile", "suites/apache-kafka.profile.toml"),
                passes_with=OF_A_SAMPLE,
            ),
        ),
        lane=WAITS,
    ),
    Part(
        "kafka",
        (
            command(
                *(*ON_KAFKA, "-p", "checks.case_slice", "--slice", "{sixteenth}"),
                *("suites", "--target", "kafka:4.4.0", "--out", "{out}"),
            ),
            command(
                *("kafka-conformance", "run", "--target", "by-document", "--out", "{out}"),
                *("--versions", "ends"),
            ),
            command("kafka-conformance", "gate", "{out}"),
        ),
        after=("suites",),
        lane=WAITS,
    ),
    Part(
        "mutants",
        (
            command(
                *("kafka-conformance", "lab", "mutate", "--noticed", "--count", RECORDED_MUTANTS),
                *("--seed", "{number}", "--jobs", "3"),
            ),
        ),
        lane=WAITS,
    ),
    Part(
        "report",
        (
            command(
                *("kafka-conformance", "report", "{out}", "{out}/release", "--light"),
                *("--out", "{out}/report"),
            ),
        ),
        after=(
            *("suites", "defects", "other_defects"),
            *("cluster", "cluster_defects", "kafka", "release"),
        ),
    ),
    Part(
        "clock",
        (Command((*PYTEST, *CLOCK_FILES, "-m", "clock"), starved_with=TOO_SLOW),),
        lane=ALONE,
    ),
)

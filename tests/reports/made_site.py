"""The data of a site beside results: a small catalogue, two APIs, two runs of a target."""

from __future__ import annotations

import json

from reports.site.given import (
    ChangedRequirement,
    GivenApi,
    GivenDefect,
    GivenRequirement,
    GivenTest,
    RunStep,
    SiteGiven,
)

TEST = GivenTest("suites/protocol/test_prod.py:12", "test_crc", "Produce", "3+")
REQUIREMENTS = (
    GivenRequirement(
        *("PROD-001", "PROD", "MUST", "A wrong <b>CRC</b> is refused"),
        source='KIP-98; Kafka 4.1.0 UnifiedLog.append; also in: "A Guide"',
        since="0.8",
        until="3.x",
        facts=(("needs", "one broker"),),
        tests=(TEST,),
        defects=(GivenDefect("labs/defects/prod.py:3", "The broker takes a wrong CRC."),),
    ),
    GivenRequirement("LEG-001", "LEG", "SHOULD", "Nothing judges this", "KIP-1", "-"),
)
CHANGES = (
    ChangedRequirement("regressed", "PROD-001", "passed", "failed", "error_code is 0 \x00 <b>"),
    ChangedRequirement("newly_asked", "META-001", None, "harness_error", ""),
    ChangedRequirement("regressed", "META-002", "passed", "inconclusive", ""),
)
STEPS = (
    RunStep("run-0", "2025-12-01T00:00:00+00:00", None),
    RunStep("run-1", "2025-12-02T00:00:00+00:00", "run-0"),
    RunStep("run-stranger", "2026-01-01T00:01:00+00:00", "run-1", CHANGES, ("run-1 is cut",)),
)
GIVEN = SiteGiven(
    catalogue_version="2026.1",
    areas={"PROD": "Produce request validation", "LEG": "Early years"},
    requirements=REQUIREMENTS,
    apis=(
        GivenApi(0, "Produce", ((0, "0.8.0"), (1, "0.9"), (2, "0.9"), (3, "0.11"))),
        GivenApi(18, "ApiVersions", ((0, "0.10.0"),)),
    ),
    steps={"stranger": STEPS},
    commands={"stranger": "kafka-conformance run --target stranger --seed 7 --out results"},
    sarif={"stranger": json.dumps({"version": "2.1.0"})},
)

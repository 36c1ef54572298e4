"""The findings of a gate as SARIF 2.1.0, the form of code hosts (OASIS, sarif-v2.1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.conformance.catalogue import Catalogue
from harness.conformance.gate import GateFinding, GateResult

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
TOOL = "kafka-conformance"
_LEVELS = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


def as_sarif(found: GateResult, catalogue: Catalogue, version: str, place: str) -> dict[str, Any]:
    """Return one run with a result for each finding.

    ``version``: of this program. ``place``: the file that code hosts show the results at, relative
    to the repository: a finding about a broker has no line of code.
    """
    names = list(dict.fromkeys(map(_rule_of, found.findings)))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": TOOL,
                        "semanticVersion": version,
                        "rules": [_rule(name, catalogue) for name in names],
                    }
                },
                "results": [_result(one, names, catalogue, place) for one in found.findings],
            }
        ],
    }


def _rule_of(finding: GateFinding) -> str:
    return finding.requirement or finding.kind.name.lower().replace("_", "-")


def _rule(name: str, catalogue: Catalogue) -> dict[str, Any]:
    known = catalogue.requirements.get(name)
    if known is None:
        return {"id": name, "shortDescription": {"text": name.replace("-", " ")}}
    return {
        "id": name,
        "shortDescription": {"text": known.statement},
        "help": {"text": f"{known.level} of Apache Kafka since {known.since}. {known.source}"},
        "defaultConfiguration": {"level": _LEVELS[known.level]},
    }


def _result(
    finding: GateFinding, names: list[str], catalogue: Catalogue, place: str
) -> Mapping[str, Any]:
    name = _rule_of(finding)
    known = catalogue.requirements.get(name)
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": place}}}
    if finding.target is not None:
        logical = {"fullyQualifiedName": f"{finding.target}/{name}", "kind": "module"}
        location["logicalLocations"] = [logical]
    return {
        "ruleId": name,
        "ruleIndex": names.index(name),
        "level": "error" if known is None else _LEVELS[known.level],
        "message": {"text": finding.sentence},
        "locations": [location],
        # The same finding of a later run has the same fingerprint, whatever its reason says.
        "partialFingerprints": {"requirementAndTarget/v1": f"{name} {finding.target or 'all'}"},
    }

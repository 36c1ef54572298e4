"""The findings of a gate as SARIF."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from harness.conformance.catalogue import load_catalogue
from harness.conformance.gate import GateFinding, GateKind, GateResult
from harness.conformance.sarif import as_sarif
from tests.conformance.sarif_schema import SARIF_SCHEMA

FINDINGS = (
    GateFinding(
        kind=GateKind.UNEXPECTED_FAILURE, target="kafka:4.4.0", requirement="PROD-001", sentence="a"
    ),
    GateFinding(
        kind=GateKind.UNEXPECTED_FAILURE, target="reference", requirement="PROD-001", sentence="b"
    ),
    GateFinding(
        kind=GateKind.UNEXPECTED_FAILURE, target="reference", requirement="PROD-031", sentence="c"
    ),
    GateFinding(kind=GateKind.NOT_WHOLE, target=None, requirement=None, sentence="no run"),
)


def test_each_finding_is_a_result_of_the_rule_of_its_requirement() -> None:
    found = GateResult(runs={}, findings=FINDINGS, known=(), headlines={})
    made = as_sarif(found, load_catalogue(), "1.2.3", "known.toml")
    assert made["version"] == "2.1.0"
    (run,) = made["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("kafka-conformance", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == ["PROD-001", "PROD-031", "not-whole"]
    assert [(one["ruleIndex"], one["message"]["text"]) for one in run["results"]] == [
        (0, "a"),
        (0, "b"),
        (1, "c"),
        (2, "no run"),
    ]
    assert [one["level"] for one in run["results"]] == ["error", "error", "warning", "error"]
    assert all(
        one["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "known.toml"}
        for one in run["results"]
    )
    assert len({str(one["partialFingerprints"]) for one in run["results"]}) == len(FINDINGS)


def test_rule_has_statement_and_source_of_the_requirement() -> None:
    found = GateResult(runs={}, findings=FINDINGS, known=(), headlines={})
    (run,) = as_sarif(found, load_catalogue(), "1", "x")["runs"]
    known, rule = load_catalogue().requirements["PROD-001"], run["tool"]["driver"]["rules"][0]
    assert rule["shortDescription"] == {"text": known.statement}
    assert known.source in rule["help"]["text"]


def test_document_has_the_members_that_the_standard_requires_and_no_other() -> None:
    found = GateResult(runs={}, findings=FINDINGS, known=(), headlines={})
    made = as_sarif(found, load_catalogue(), "1.2.3", "known.toml")
    Draft202012Validator.check_schema(SARIF_SCHEMA)
    schema = Draft202012Validator(SARIF_SCHEMA)
    schema.validate(made)
    for place, member in ((made, "runs"), (made["runs"][0]["results"][0], "message")):
        kept = place.pop(member)
        assert not schema.is_valid(made)
        place[member] = kept
    made["runs"][0]["results"][0]["colour"] = "red"
    assert not schema.is_valid(made)

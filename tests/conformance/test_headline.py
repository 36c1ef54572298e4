"""The headline: what of the catalogue was judged, and how to get the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.conformance.catalogue import load_catalogue
from harness.conformance.headline import Headline, as_json, headline
from harness.conformance.journal import FIRST_CONTACT, Journal
from harness.conformance.record import CheckRecord, Footer, PlannedCase
from harness.conformance.summary import summarize
from harness.conformance.verdict import Verdict
from harness.targets.target import CAPABILITIES
from tests.conformance.made import V, check, header, plan_of

ALL = load_catalogue().requirements
WITHOUT_TEST = sum(bool(one.not_judged) for one in ALL.values())


def of(*checks: CheckRecord, target: str = "reference", whole: bool = True) -> Headline:
    end = Footer(finished_at="2026-05-01T10:01:00+00:00", checks=len(checks), exit=0)
    run = Journal(
        header=header(target=target),
        plan=plan_of(checks),
        checks=checks,
        footer=end if whole else None,
    )
    return headline(summarize(run), load_catalogue())


def lacking(capability: str) -> CheckRecord:
    return replace(check("CONN-002", V.NOT_APPLICABLE), capability_missing=capability)


def group_of(found: Headline, requirement: str = "CONN-002") -> str:
    (group,) = [one for one in found.not_judged if requirement in one.requirements]
    return str(group)


def test_counts_are_of_catalogue_and_groups_cover_the_rest() -> None:
    found = of(
        check("CONN-001"), check("CONN-003", V.FAILED), check("CONN-004", V.WARNING, level="SHOULD")
    )
    assert (found.requirements, found.judged, found.musts_passed) == (len(ALL), 3, 1)
    assert found.musts == sum(one.level == "MUST" for one in ALL.values())
    groups = [name for group in found.not_judged for name in group.requirements]
    assert sorted(groups) == sorted(ALL.keys() - {"CONN-001", "CONN-003", "CONN-004"})
    assert f"3 of the {len(ALL)} requirements of the catalogue judged" in found.lines[0]
    assert f"{len(ALL) - 3} not judged:" in found.lines
    assert as_json(found)["judged"] == 3


def test_requirements_that_no_test_declares_are_told_apart_from_those_not_selected() -> None:
    run = Journal(header=header(), plan=(), checks=(), footer=None)
    tested = frozenset({"CONN-001"})
    found = headline(summarize(run), load_catalogue(), tested)
    without = len(ALL) - WITHOUT_TEST - 1
    assert group_of(found).startswith(f"{without} have no test yet: ")
    assert "no test" not in group_of(found, "CONN-001")


def test_requirements_without_test_are_a_group_of_their_own() -> None:
    without = [name for name, one in ALL.items() if one.not_judged]
    found = of(check("CONN-001"))
    for name in without:
        assert group_of(found, name).startswith(f"{WITHOUT_TEST} have no test")


@pytest.mark.parametrize(
    ("capability", "target", "said"),
    [
        ("nodes", "kafka:4.4.0", "need several nodes: --target kafka:4.4.0,nodes=3"),
        ("nodes", "kafka:3.9.2,mode=zk", "--target kafka:3.9.2,nodes=3"),
        ("offline", "reference", "--target by-document"),
        ("join_as_broker", "reference", "--target kafka:latest, or reference,nodes=1"),
        ("what.no.table.has", "reference", '"what.no.table.has", which this broker lacks'),
        ("own_broker", "external:b:1", "--target kafka:RELEASE, reference or command:FILE"),
        ("kill_node", "external:b:1", "profile=FILE with commands.kill and commands.restart"),
        ("log_directory", "external:b:1", "profile=FILE with [log_directories]"),
        ("own-names requests", "external:b:1", 'safety = ["read", "own-names"]'),
        (
            "message.format.version",
            "reference",
            "older record format: --target kafka:2.8.2, or reference,like=2.8.2",
        ),
    ],
)
def test_missing_capability_names_target_or_option(capability: str, target: str, said: str) -> None:
    assert said in group_of(of(lacking(capability), target=target))


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_each_capability_of_targets_has_a_remedy(capability: str) -> None:
    assert "which this broker lacks" not in group_of(of(lacking(capability), target="external:b:1"))


@pytest.mark.parametrize(
    ("verdict", "reason", "said"),
    [
        (
            V.NOT_SUPPORTED,
            "promised since 2.4; this is 2.3.1: x",
            "not promised by 4.4.0 (since 2.4): --target kafka:RELEASE, from 2.4",
        ),
        (
            V.NOT_SUPPORTED,
            "promised until 3.x; this is 4.4.0: x",
            "(until 3.x): --target kafka:RELEASE, up to 3.x",
        ),
        (
            V.NOT_SUPPORTED,
            "promised since 0.10, not in 4.0.0; this is 4.0.0: x",
            "promised since 0.10, and not by 4.0.0: --target kafka:RELEASE, any but 4.0.0",
        ),
        (V.NOT_SUPPORTED, "Fetch v3: advertised is 4 to 18", "that the broker does not offer"),
        (V.INCONCLUSIVE, "it was busy", "are inconclusive"),
        (V.HARNESS_ERROR, "KeyError", "harness error"),
    ],
)
def test_undecided_verdict_has_its_group(verdict: Verdict, reason: str, said: str) -> None:
    assert said in group_of(of(check("CONN-002", verdict, reason=reason)))


def test_absent_api_is_named_before_what_another_set_up_lacks() -> None:
    absent = check("CONN-002", V.NOT_SUPPORTED, reason="Fetch v3: advertised is not at all")
    offered = "that the broker does not offer"
    assert offered in group_of(of(lacking("a listener with SASL"), absent))
    other_case = replace(absent, case=f"{absent.case} of an older version")
    assert offered not in group_of(of(lacking("a listener with SASL"), other_case))


def test_what_the_fewest_set_ups_lack_is_the_reason() -> None:
    nodes, controllers = lacking("nodes"), lacking("controllers")
    assert "several nodes" in group_of(of(nodes))
    for checks in ((nodes, controllers), (nodes, controllers, nodes)):
        assert "several nodes" not in group_of(of(*checks))


def test_requirements_that_were_not_selected_are_named_so() -> None:
    assert "outside of what the run selected" in group_of(of(check("CONN-001")))
    assert "the run is incomplete" in group_of(of(check("CONN-001"), whole=False))


def test_run_that_ended_at_first_contact_says_so() -> None:
    failed = check("CONN-003", V.FAILED, case=FIRST_CONTACT)
    found = of(failed)
    assert plan_of([failed]) == (PlannedCase(case=FIRST_CONTACT, requirements=("CONN-003",)),)
    assert "come after the first contact" in group_of(found)

"""A sweep leaves a cluster as it was, and what would notice if it did not."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.codec.apis import APIS
from harness.conformance.harmless_requests import (
    HarmlessApi,
    RequestForm,
    Safety,
    load_harmless_requests,
)
from harness.conformance.snapshot_questions import load_snapshot_questions
from harness.sweep import requests as binding
from harness.sweep.requests import safety_of
from harness.sweep.snapshot import Snapshot, differences
from harness.sweep.walk import SweepStep, steps, sweep
from tests.sweep.brokers import LONG_MS, advertised
from tests.sweep.conftest import Cluster


def _sweep(*words: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *words])


def test_sweep_of_all_advertised_versions_leaves_cluster_unchanged(cluster: Cluster) -> None:
    before = cluster.snapshot()
    ended = _sweep("--target", cluster.spec, "--json")
    assert ended.exit_code == 0, ended.output
    *answers, last = [json.loads(line) for line in ended.stdout.splitlines()]
    assert last == {"changed": []}
    assert differences(before, cluster.snapshot()) == []
    outcomes = {answer["outcome"] for answer in answers}
    assert outcomes <= {"decoded", "unserved", "not sent"}
    # every advertised version was asked, all but those that could do harm
    asked = {(a["api"], a["version"]) for a in answers if a["outcome"] != "not sent"}
    assert asked == {
        (api.name, version)
        for api in APIS.values()
        if safety_of(api.name) is not Safety.DESTRUCTIVE
        for version in cluster.broker.shown(api.name) & api.valid_versions
        if version not in api.unstable_versions
    }


def test_two_snapshots_of_a_quiet_cluster_are_equal(cluster: Cluster) -> None:
    taken = cluster.snapshot()
    assert differences(taken, cluster.snapshot()) == []
    assert any(cluster.topic.name in line for line in taken["topics"])
    assert f"{cluster.topic.name}-0 0 1" in taken["log ends"]


def _changed_since(cluster: Cluster, before: Snapshot) -> list[str]:
    return differences(before, cluster.snapshot())


def test_snapshot_difference_shows_every_kind_of_change(cluster: Cluster) -> None:
    topic = cluster.broker.create_topic(partitions=2)
    for name, change in cluster.changes.items():
        before = cluster.snapshot()
        change.make(cluster.broker, topic)
        found = cluster.broker.eventually(
            partial(_changed_since, cluster, before), f"it is seen that {name}"
        )
        sections = {line.split(":")[0] for line in found}
        assert change.section in sections, f"{name}: {found}"


def test_sweep_reports_request_that_changes_cluster(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that creates the topic it names instead of only validating."""
    table = dict(load_harmless_requests())
    table["CreateTopics"] = _careless(table["CreateTopics"])
    monkeypatch.setattr(binding, "load_harmless_requests", lambda: table)
    ended = _sweep("--target", cluster.spec, "--api", "CreateTopics")
    assert ended.exit_code == 1, ended.output
    assert "The cluster has changed, by the sweep or by others meanwhile:" in ended.output
    assert "  topics: + topics {" in ended.output
    assert "-sweep" in ended.output.split("changed, by")[1]


def _careless(api: HarmlessApi) -> HarmlessApi:
    forms = tuple(
        RequestForm(form.versions, {**form.fields, "validate_only": False})
        if "validate_only" in form.fields
        else form
        for form in api.requests
    )
    return replace(api, requests=forms)


def test_destructive_requests_with_foreign_ids_change_nothing(cluster: Cluster) -> None:
    """This broker may come to harm: it is ours. Its ids stand in none of the requests."""
    wanted = [step for step in steps(advertised(cluster.address)) if _could_do_harm(step)]
    before = cluster.snapshot()
    answers = list(sweep(wanted, ("127.0.0.1", 1), lambda: cluster.address, LONG_MS, {}))
    assert [(answer.api_name, answer.errors) for answer in answers] == cluster.harmful
    assert differences(before, cluster.snapshot()) == []


def _could_do_harm(step: SweepStep) -> bool:
    return step.safety is Safety.DESTRUCTIVE


def test_snapshot_questions_use_only_read_apis() -> None:
    assert {safety_of(question.api) for question in load_snapshot_questions()} == {Safety.READ}


def test_differences_list_removed_and_added_lines() -> None:
    before = {"topics": frozenset({"a", "b"}), "gone": frozenset({"x"})}
    after = {"topics": frozenset({"b", "c" * 400}), "new": frozenset({"y"})}
    assert differences(before, after) == [
        "topics: - a",
        f"topics: + {'c' * 290} ...",
        "gone: - x",
        "new: + y",
    ]

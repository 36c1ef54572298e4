"""A run deletes and alters only its own things, and the comparison notices if it does not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteRecordsRequest, OffsetCommitRequest
from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.verdict import Verdict
from harness.sweep.snapshot import differences
from suites.protocol.support.appended import batch_of
from suites.protocol.support.gone_topics import create_again, delete_topic
from tests.external.conftest import Cluster
from tests.external.strangers import TOPICS, set_quota
from tests.sweep.changes import OF_EVERY_BROKER, OF_KAFKA

pytestmark = pytest.mark.sample(4)

PART = ("TOPIC-*", "META-*", "APIV-006", "APIV-015", "CONN-015", "COORD-*", "PROD-001")
"""Requirements that create, grow and delete topics, set quotas, or send harmful requests."""


def run_part(cluster: Cluster, out: Path, *globs: str) -> set[str]:
    """Judge the cluster; return the requirements that passed."""
    options = [word for glob in globs for word in ("--requirement", glob)]
    ended = CliRunner().invoke(main, ["run", "--target", cluster.spec, "--out", str(out), *options])
    assert ended.exit_code == 0, ended.output
    (run,) = (out / "runs").iterdir()
    checks = read_journal(run / JOURNAL_NAME).checks
    return {check.requirement for check in checks if check.verdict is Verdict.PASSED}


def test_run_leaves_foreign_objects_unchanged(cluster: Cluster, out: Path) -> None:
    before = cluster.describe()
    passed = run_part(cluster, out, *PART)
    assert {"TOPIC-016", "TOPIC-024", "META-010", "PROD-001", "CONN-015"} <= passed
    assert cluster.changes_since(before) == []


def test_idle_cluster_description_stays_equal(cluster: Cluster) -> None:
    before = cluster.describe()
    assert any("kc-orders" in line for line in before["records"])
    assert differences(before, cluster.describe()) == []
    if cluster.has_groups:
        assert len(before["committed offsets"]) == len(TOPICS)


def _delete_records(cluster: Cluster) -> None:
    request = DeleteRecordsRequest
    partition = request.DeleteRecordsPartition(partition_index=0, offset=1)
    topic = request.DeleteRecordsTopic(name="orders", partitions=[partition])
    answer = cluster.client.ask(request(topics=[topic], timeout_ms=10_000))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE


def _commit_further(cluster: Cluster) -> None:
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(committed_offset=2)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="orders", partitions=[partition])
    request = OffsetCommitRequest(group_id="orders", topics=[topic])
    assert cluster.client.ask(request, 9).topics[0].partitions[0].error_code == ErrorCode.NONE


def _make_again(cluster: Cluster) -> None:
    """Delete a topic and create it with the same name, settings and records."""
    client = cluster.client
    topic = client.create_topic(1, {}, "made-twice")
    client.produce(topic, batch_of(b"one"))
    before = cluster.describe()
    delete_topic(client, topic)
    client.produce(create_again(client, "made-twice"), batch_of(b"one"))
    assert differences(before, cluster.describe())


def test_every_harmful_change_alters_description(cluster: Cluster) -> None:
    """Each way in which a run could harm other owners changes the description."""
    changes = OF_KAFKA if cluster.has_groups else OF_EVERY_BROKER
    harm = {name: partial(change.make, cluster.client, cluster.client.create_topic(2))
            for name, change in changes.items()}  # fmt: skip
    harm["records are deleted"] = partial(_delete_records, cluster)
    if cluster.has_groups:
        harm["an offset is committed anew"] = partial(_commit_further, cluster)
        harm["a quota of two names"] = partial(
            set_quota, cluster.client, ("user", "bob"), ("client-id", "b")
        )
    for name, make in harm.items():
        before = cluster.describe()
        make()
        cluster.client.eventually(partial(_changed, cluster, before), f"it is seen that {name}")
    _make_again(cluster)


def _changed(cluster: Cluster, before: dict[str, frozenset[str]]) -> bool:
    return bool(differences(before, cluster.describe()))


def test_comparison_detects_run_that_appends_to_foreign_topic(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison notices a suite with a single test that appends to another owner's topic."""
    suite = tmp_path / "suites" / "protocol"
    suite.mkdir(parents=True)
    (suite / "test_harm.py").write_text(HARM, "utf-8")
    monkeypatch.setattr("harness.base.bundle.suites_root", lambda: tmp_path)
    monkeypatch.setattr("harness.commands.suite_pytest.suites_root", lambda: tmp_path)
    before = cluster.describe()
    assert run_part(cluster, tmp_path / "out") == {"CONN-001"}
    found = differences(before, cluster.describe())
    assert [line for line in found if line.startswith("records: + orders-0 ")]
    assert [line for line in found if line.startswith("log ends: + orders-0 ")]


HARM = """
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.appended import batch_of


@judges("CONN-001")
def test_it(broker):
    (theirs,) = broker.metadata(["orders"]).topics
    with requirement("CONN-001"):
        broker.produce(Topic("orders", theirs.topic_id), batch_of(b"x"))
"""

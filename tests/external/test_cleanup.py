"""``kafka-conformance cleanup``: the things that it deletes and keeps, and its output."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request, encode_response
from harness.codec.messages import (
    ApiVersionsResponse,
    DeleteGroupsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    ListGroupsResponse,
    MetadataResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, RunningRelay, SeenRequest
from harness.sweep.snapshot import differences
from tests.external.conftest import Cluster
from tests.external.strangers import set_quota
from tests.sweep.changes import commit_offset

AN_HOUR_S = 3600


def cleanup(spec: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["cleanup", "--target", spec, *options])


def leave(cluster: Cluster, client: BrokerUnderTest) -> list[tuple[str, str]]:
    """One of each kind that a test can leave; kind and name, in the order of the removal."""
    topic = client.create_topic(2)
    client.create_topic(name=f"{client.unique_topic()}-a.b.c")
    if not cluster.has_groups:
        return [("topic", topic.name)]
    commit_offset(client, topic)
    set_quota(client, ("client-id", topic.name))
    return [("group", topic.name), ("quota", f"client-id {topic.name}"), ("topic", topic.name)]


def test_cleanup_removes_only_objects_of_killed_run(cluster: Cluster) -> None:
    before = cluster.describe()
    with cluster.killed() as client:
        left = leave(cluster, client)
    listed = cleanup(cluster.spec, "--dry-run")
    assert listed.exit_code == 1, listed.output
    for kind, name in left:
        assert f"found    {kind:<6} {name}\n" in listed.output
    assert f"{len(left) + 1} would be removed." in listed.output
    assert differences(before, cluster.describe()), "a dry run removes nothing"
    ended = cleanup(cluster.spec, "--json")
    assert ended.exit_code == 0, ended.output
    *rows, counts = map(json.loads, ended.output.splitlines())
    assert {(row["kind"], row["name"]) for row in rows} >= set(left)
    assert {row["outcome"] for row in rows} == {"removed"}
    assert counts == {"found": 0, "removed": len(left) + 1, "left": 0}
    assert cluster.changes_since(before) == []


def test_cleanup_older_than_keeps_younger_topics(cluster: Cluster) -> None:
    old = cluster.leave_topic(f"{int(time.time()) - AN_HOUR_S:08x}abcdef")
    young = cluster.leave_topic()
    ended = cleanup(cluster.spec, "--older-than", "30m")
    assert (ended.exit_code, ended.output) == (0, f"removed  topic  {old}\n1 removed, 0 left.\n")
    assert cleanup(cluster.spec, "--older-than", "1d").output == "Nothing of ours is there.\n"
    assert f"removed  topic  {young}\n" in cleanup(cluster.spec).output


def test_cleanup_with_other_prefix_keeps_default_prefix_topics(cluster: Cluster) -> None:
    ours = cluster.leave_topic()
    assert cleanup(cluster.spec, "--prefix", "team-a.").output == "Nothing of ours is there.\n"
    assert ours in cleanup(cluster.spec, "--prefix", "kc-").output


def test_cleanup_takes_name_prefix_from_access_profile(cluster: Cluster, tmp_path: Path) -> None:
    profile = tmp_path / "access.toml"
    profile.write_text('name_prefix = "team-a.kc_"\n')
    ours = cluster.leave_topic()
    assert cleanup(f"{cluster.spec},profile={profile}").output == "Nothing of ours is there.\n"
    assert ours in cleanup(cluster.spec).output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reference"], "goes with it"),
        (["kafka:4.4.0"], "external:HOST:PORT"),
        (["external:here"], "is not HOST:PORT"),
        (["external:127.0.0.1:1", "--prefix", "_x"], "must begin with a letter"),
        (["external:127.0.0.1:1", "--older-than", "2 weeks"], "is no duration such as 90s"),
    ],
)
def test_cleanup_with_invalid_arguments_exits_2(words: list[str], said: str) -> None:
    ended = cleanup(*words)
    assert ended.exit_code == 2
    assert said in " ".join(ended.output.split())


def test_cleanup_of_unreachable_broker_exits_3() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        spec = f"external:127.0.0.1:{server.getsockname()[1]}"
    ended = cleanup(spec)
    assert ended.exit_code == 3
    assert "refused" in ended.output


# -- clusters that do not let go -------------------------------------------------------------------


class LetsNotGo(FrameRule):
    """Hides API keys and edits answers; Metadata leads the clients back to this relay."""

    def __init__(self, hidden: str = "", edit: Callable[[Message], None] | None = None) -> None:
        self.hidden = api_named(hidden).key if hidden else None
        self.edit = edit
        self.address = ("", 0)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        assert seen.api is not None
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        if isinstance(message, ApiVersionsResponse):
            message.api_keys = [one for one in message.api_keys if one.api_key != self.hidden]
        if isinstance(message, MetadataResponse):
            for node in message.brokers:
                node.host, node.port = self.address
        if self.edit is not None:
            self.edit(message)
        return [encode_response(message, seen.version, correlation_id)]


@contextmanager
def that_lets_not_go(cluster: Cluster, rule: LetsNotGo) -> Iterator[str]:
    """Yield the target string of the cluster behind the rule; the end deletes all that is ours."""
    with RunningRelay(cluster.client.address, rule) as relay:
        rule.address = relay.address
        yield f"external:{relay.address[0]}:{relay.address[1]}"
    assert cleanup(cluster.spec).exit_code == 0


def _refuses_deletion(message: Message) -> None:
    if isinstance(message, DeleteTopicsResponse):
        message.responses[0].error_code = ErrorCode.TOPIC_DELETION_DISABLED


def _refuses_with_a_code_that_nobody_knows(message: Message) -> None:
    if isinstance(message, DeleteTopicsResponse):
        message.responses[0].error_code = 9999


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (LetsNotGo("DeleteTopics"), "the broker has no DeleteTopics (Kafka has since 0.10.1)"),
        (LetsNotGo(edit=_refuses_deletion), "the broker has delete.topic.enable=false"),
        (LetsNotGo(edit=_refuses_with_a_code_that_nobody_knows), "9999"),
    ],
    ids=["no DeleteTopics", "deletion disabled", "a code that nobody knows"],
)
def test_cleanup_reports_topic_that_broker_refuses_to_delete(
    cluster: Cluster, rule: LetsNotGo, said: str
) -> None:
    name = cluster.leave_topic()
    with that_lets_not_go(cluster, rule) as spec:
        ended = cleanup(spec)
        assert ended.exit_code == 1, ended.output
        assert f"left     topic  {name}: " in ended.output
        assert said in ended.output
        assert "0 removed, 1 left." in ended.output


class DeletesNothing(LetsNotGo):
    """DeleteTopics is answered well and never reaches the broker."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, DeleteTopicsRequest):
            seen.message.topics = seen.message.topics[:0]
            assert seen.header is not None
            return encode_request(seen.message, seen.version, seen.header.correlation_id)
        return seen.payload


def test_cleanup_reports_topic_that_remains_after_accepted_deletion(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.runner.cleanup.leftovers.TIMEOUT_MS", 200)
    cluster.leave_topic()
    answered = DeleteTopicsResponse.DeletableTopicResult(name="", error_code=0)

    def as_if_done(message: Message) -> None:
        if isinstance(message, DeleteTopicsResponse):
            message.responses = [answered]

    with that_lets_not_go(cluster, DeletesNothing(edit=as_if_done)) as spec:
        ended = cleanup(spec)
    assert ended.exit_code == 1
    assert "its deletion was accepted, but it is still there" in ended.output


def _shows_no_groups(message: Message) -> None:
    if isinstance(message, ListGroupsResponse):
        message.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _has_members(message: Message) -> None:
    if isinstance(message, DeleteGroupsResponse):
        message.results[0].error_code = ErrorCode.NON_EMPTY_GROUP


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (LetsNotGo(edit=_shows_no_groups), "left     group  : cannot be looked at: ListGroups: CL"),
        (LetsNotGo(edit=_has_members), "it has members until their sessions time out"),
        (LetsNotGo("DeleteGroups"), "the broker has no DeleteGroups (Kafka has since 1.1)"),
    ],
    ids=["not shown", "members", "no DeleteGroups"],
)
def test_cleanup_reports_group_it_cannot_delete_and_removes_topics(
    cluster: Cluster, rule: LetsNotGo, said: str
) -> None:
    if not cluster.has_groups:
        assert not cluster.client.advertised("AlterUserScramCredentials"), (
            "it is filled with topics"
        )
        return
    with cluster.killed() as client:
        leave(cluster, client)
    with that_lets_not_go(cluster, rule) as spec:
        ended = cleanup(spec)
    assert ended.exit_code == 1, ended.output
    assert said in ended.output
    assert "removed  topic  " in ended.output, "the rest goes all the same"

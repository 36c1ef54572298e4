"""`talk ask`: any API at any version, by JSON."""

from __future__ import annotations

import pytest

from tests.talk.talking import Talking


def test_response_has_fields_of_the_version_that_is_named(talk: Talking, topic: str) -> None:
    asked = {"topics": [{"name": topic}]}
    old = talk.ask("Metadata", asked, "--version", "1")
    new = talk.ask("Metadata", asked)
    assert "topic_id" not in old["topics"][0]
    assert "topic_id" in new["topics"][0]
    assert [one["partition_index"] for one in new["topics"][0]["partitions"]] == [0, 1, 2]


def test_error_code_is_an_answer(talk: Talking) -> None:
    found = talk.ask("DeleteTopics", {"topics": [{"name": "unknown-topic"}], "timeout_ms": 1})
    assert [one["error_code"] for one in found["responses"]] == [3]


def test_request_is_read_from_standard_input(talk: Talking) -> None:
    ended = talk.invoke("ask", "FindCoordinator", "-", given='{"coordinator_keys": ["group"]}')
    assert (ended.exit_code, '"key": "group"' in ended.stdout) == (0, True)
    assert "FindCoordinator v6 to" in ended.stderr


def test_broker_that_metadata_lists_is_asked_by_its_id(talk: Talking) -> None:
    (broker,) = talk.ask("Metadata", {"topics": []})["brokers"]
    found = talk.ask("DescribeCluster", {}, "--node", str(broker["node_id"]))
    assert [one["broker_id"] for one in found["brokers"]] == [broker["node_id"]]
    other = broker["node_id"] + 1
    ended = talk.invoke("ask", "--node", str(other), "ApiVersions")
    assert (ended.exit_code, f"no broker {other}: Metadata lists" in ended.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Metadat"], 'did you mean "Metadata"?'),
        (["Metadata", "{"], "not JSON"),
        (["Metadata", '{"topic": []}'], "topic: no such field"),
        (["--version", "99", "Metadata"], "Metadata has versions 0-13"),
    ],
)
def test_wrong_usage_exits_2(talk: Talking, words: list[str], said: str) -> None:
    ended = talk.invoke("ask", *words)
    assert (ended.exit_code, said in ended.stderr) == (2, True), ended.stderr


def test_api_that_is_not_advertised_exits_1_and_closes_the_connection_at_a_version(
    talk: Talking,
) -> None:
    ended = talk.invoke("ask", "ShareFetch")
    assert (ended.exit_code, "ShareFetch" in ended.stderr) == (1, True), ended.stderr
    ended = talk.invoke("ask", "--version", "1", "ShareFetch")
    assert (ended.exit_code, "closed the connection" in ended.stderr) == (1, True), ended.stderr


def test_broker_that_does_not_listen_exits_3() -> None:
    ended = Talking(("127.0.0.1", 1)).invoke("ask", "Metadata")
    assert (ended.exit_code, "nothing listens there" in ended.stderr) == (3, True), ended.stderr


def test_unknown_target_exits_2() -> None:
    unknown = Talking(("127.0.0.1", 1))
    unknown.target = "nowhere"
    ended = unknown.invoke("ask", "Metadata")
    assert (ended.exit_code, "unknown target 'nowhere'" in ended.stderr) == (2, True)

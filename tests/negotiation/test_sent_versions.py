"""Real clients send the versions that their files predict, seen at a proxy before the broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.clients.calls import Calls
from harness.clients.records import FOR_EVER, numbered
from harness.clients.vocabulary import EAGER
from harness.negotiation.client_file import ClientFile, find_client
from harness.negotiation.negotiate import negotiate
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.seen import SeenRequest
from harness.proxies.step import Step
from harness.targets.errors import TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.java import JavaError
from harness.targets.proxied import proxied
from harness.targets.spec import parse_target
from labs.clients.clients import CLIENTS
from labs.clients.here import awaited
from labs.official_classes.maven import MavenError
from tests.targets import kinds

TOPIC, GROUP, MEMBER = "sent", "senders", "one"
DONE = {
    "ApiVersions", "Metadata", "Produce", "Fetch", "ListOffsets", "FindCoordinator", "JoinGroup",
    "SyncGroup", "OffsetCommit", "OffsetFetch", "LeaveGroup", "CreateTopics", "CreatePartitions",
    "DeleteRecords", "DescribeConfigs", "ListGroups", "DescribeGroups", "DeleteTopics",
}  # fmt: skip
FILES = {"java": "kafka-clients"}
"""Names in the table of clients that are not those of the client files."""
OTHER_VERSIONS = {
    # 10 has ids of topics in place of names, which a consumer of a classic group does not send.
    ("java", "OffsetCommit"): {9},
    ("java", "OffsetFetch"): {9},
}
"""Client and API -> versions that it also sends, for a reason."""


class SentVersions(Interceptor):
    """API name -> the versions of its requests."""

    def __init__(self) -> None:
        self.seen: dict[str, set[int]] = {}

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:
        return direction is Direction.UPSTREAM

    @property
    def is_idle(self) -> bool:
        return False

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        assert seen.api is not None
        self.seen.setdefault(seen.api.name, set()).add(seen.version)
        return None


def sent_by(name: str, folder: Path) -> tuple[dict[str, set[int]], TargetInfo]:
    """The versions that the client sends to the built-in broker in all calls of the vocabulary."""
    sent = SentVersions()
    with parse_target("reference", log_dir=folder) as target:
        with proxied(target, interceptor=sent) as behind:
            with CLIENTS[name].start(behind.bootstrap, folder / f"{name}.log") as calls:
                do_everything(calls, CLIENTS[name].offers("delete_group"))
        return sent.seen, probe(target)


def do_everything(calls: Calls, deletes_groups: bool) -> None:
    calls.create_topic(TOPIC, configs=FOR_EVER)
    awaited(calls.list_topics, lambda found: TOPIC in found, "the topic is listed")
    calls.produce(TOPIC, numbered(1, 3), "zstd")
    calls.read(TOPIC, 0, 0, 3)
    calls.offsets_for_times(TOPIC, {0: 1})
    calls.join(MEMBER, GROUP, TOPIC, EAGER)
    awaited(lambda: calls.poll(MEMBER), bool, "the member reads")
    calls.commit(MEMBER)
    calls.describe_group(GROUP)
    calls.leave(MEMBER)
    calls.list_groups()
    calls.group_offsets(GROUP)
    calls.describe_configs(TOPIC)
    calls.alter_configs(TOPIC, {"retention.ms": "-1"})
    calls.create_partitions(TOPIC, 2)
    calls.delete_records(TOPIC, {0: 1})
    if deletes_groups:
        calls.delete_group(GROUP)
    calls.delete_topic(TOPIC)


def file_of(name: str) -> ClientFile:
    return find_client(f"{FILES.get(name, name)}-{CLIENTS[name].release().removeprefix('v')}")


@pytest.mark.parametrize(
    "name",
    [
        "kafka-python",
        "aiokafka",
        pytest.param("franz-go", marks=pytest.mark.deep),
        pytest.param("java", marks=pytest.mark.deep),
    ],
)
def test_client_sends_versions_of_its_file(name: str, tmp_path: Path) -> None:
    kinds.need_reference()
    try:
        sent, info = sent_by(name, tmp_path)
    except (TargetError, JavaError, MavenError) as problem:
        kinds.not_run(f"{name}: {problem}")
    predicted = negotiate(file_of(name), info.api_versions, {})
    expected = {row.api: row.version for row in predicted.agreed}
    assert sent.keys() >= DONE
    wrong = {
        api: (versions, expected.get(api))
        for api, versions in sent.items()
        if not versions <= {expected.get(api)} | OTHER_VERSIONS.get((name, api), set())
    }
    assert not wrong

"""The visible state of a cluster, in a form that can be compared.

A snapshot is lines of text by section. Topics that the broker creates on first use
(``is_internal``) are left out: a FindCoordinator request of a client is enough to create one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from harness.client.connection import Address, Connection
from harness.codec.apis import api_named
from harness.codec.dictionary_form import to_dict
from harness.codec.messages import (
    DescribeConfigsRequest,
    ListConfigResourcesRequest,
    ListOffsetsRequest,
    MetadataRequest,
)
from harness.codec.versions import VersionRange
from harness.conformance.snapshot_questions import SnapshotQuestion, load_snapshot_questions
from harness.sweep.requests import OwnNames, build

Snapshot = dict[str, frozenset[str]]
"""Section to its lines; sets, because Kafka orders most of its lists by chance."""

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32  # class ConfigResource.Type
LATEST = -1
SHOWN_CHARACTERS = 300
_UNUSED = OwnNames("", UUID(int=0))


def take_snapshot(
    address: Address, advertised: Mapping[int, VersionRange], timeout_ms: float
) -> Snapshot:
    """Ask all questions of the table that the broker answers, then configs and log ends.

    Raises BrokerMisbehaved: an answer is missing or cannot be read.
    """
    with Connection(address, timeout_ms=timeout_ms) as connection:
        asking = _Asking(connection, advertised)
        taken = dict(asking.sections())
        taken["log ends"] = frozenset(asking.log_ends())
        taken["configs"] = frozenset(asking.configs())
        return taken


def differences(before: Snapshot, after: Snapshot) -> list[str]:
    """``section: - line`` for what went, ``section: + line`` for what came; empty when equal."""
    found = []
    for section in {**before, **after}:
        was, now = before.get(section, frozenset()), after.get(section, frozenset())
        found += [f"{section}: - {line}" for line in sorted(was - now)]
        found += [f"{section}: + {line}" for line in sorted(now - was)]
    return [line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]} ..."
            for line in found]  # fmt: skip


class _Asking:
    """The questions on one connection, and the topics that they found."""

    def __init__(self, connection: Connection, advertised: Mapping[int, VersionRange]) -> None:
        self.connection, self.advertised = connection, advertised
        self.topics: dict[str, int] = {}  # name to the number of partitions
        self.internal: frozenset[str] = frozenset()
        self.brokers: list[int] = []

    def version(self, api_name: str, wanted: str = "0+") -> int | None:
        """Return the highest version that both sides have, None without one."""
        api = api_named(api_name)
        known = self.advertised.get(api.key)
        usable = known & VersionRange.parse(wanted) & api.valid_versions if known else None
        return usable.highest if usable else None

    def sections(self) -> Iterator[tuple[str, frozenset[str]]]:
        """All that stands in the table, topics first."""
        self._find_topics()
        for question in load_snapshot_questions():
            shown = self._answer(question)
            if shown is not None:
                form = _pruned(shown, question.leave_out)
                yield question.section, frozenset(self._lines(form))

    def _find_topics(self) -> None:
        version = self.version("Metadata", "1+")
        if version is None:
            return
        request = MetadataRequest(topics=None, allow_auto_topic_creation=version < 4)
        answer = self.connection.ask(request, version)
        shown = {t.name: t for t in answer.topics if t.name is not None and t.error_code == 0}
        self.internal = frozenset(name for name, topic in shown.items() if topic.is_internal)
        self.topics = {n: len(t.partitions) for n, t in shown.items() if n not in self.internal}
        self.brokers = [broker.node_id for broker in answer.brokers]

    def _answer(self, question: SnapshotQuestion) -> dict[str, Any] | None:
        for form in reversed(question.requests):
            version = self.version(question.api, form.versions)
            if version is not None:
                request = build(question.api, version, question.requests, _UNUSED)
                return to_dict(self.connection.ask(request, version), version)
        return None

    def _lines(self, form: Mapping[str, Any]) -> Iterator[str]:
        for name, value in form.items():
            for element in value if isinstance(value, list) else [value]:
                kept = _without_topics(element, self.internal)
                if kept is not None:
                    yield f"{name} {json.dumps(kept, sort_keys=True)}"

    def log_ends(self) -> Iterator[str]:
        """Yield the log end offset of each partition: a new record is a change."""
        version = self.version("ListOffsets", "1+")
        if version is None or not self.topics:
            return
        topic, partition = ListOffsetsRequest.ListOffsetsTopic, _partition_end
        entries = [
            topic(name=name, partitions=[partition(index) for index in range(count)])
            for name, count in sorted(self.topics.items())
        ]
        answer = self.connection.ask(ListOffsetsRequest(replica_id=-1, topics=entries), version)
        for found in answer.topics:
            for one in found.partitions:
                yield f"{found.name}-{one.partition_index} {one.error_code} {one.offset}"

    def configs(self) -> Iterator[str]:
        """Yield the configs of each topic, each broker, all brokers, and other resources."""
        version = self.version("DescribeConfigs")
        if version is None:
            return
        wanted = [(TOPIC, name) for name in sorted(self.topics)]
        wanted += [(BROKER, str(node)) for node in sorted(self.brokers)] + [(BROKER, "")]
        entry = DescribeConfigsRequest.DescribeConfigsResource
        request = DescribeConfigsRequest(
            resources=[
                entry(resource_type=kind, resource_name=name, configuration_keys=None)
                for kind, name in [*wanted, *self._other_resources()]
            ]
        )
        for result in self.connection.ask(request, version).results:
            whose = f"{result.resource_type} {result.resource_name!r} {result.error_code}"
            yield whose
            for config in result.configs:
                yield f"{whose} {config.name}={config.value!r}"

    def _other_resources(self) -> Iterator[tuple[int, str]]:
        """Groups and client metrics that have configs, where the broker lists them."""
        version = self.version("ListConfigResources")
        if version is None:
            return
        for one in self.connection.ask(ListConfigResourcesRequest(), version).config_resources:
            kind = one.resource_type if version >= 1 else CLIENT_METRICS
            if kind in (CLIENT_METRICS, GROUP):
                yield kind, one.resource_name


def _partition_end(index: int) -> ListOffsetsRequest.ListOffsetsPartition:
    return ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=LATEST)


def _pruned(value: Any, leave_out: frozenset[str]) -> Any:
    """Return the value without these fields, and with its lists of objects sorted."""
    if isinstance(value, dict):
        return {k: _pruned(inner, leave_out) for k, inner in value.items() if k not in leave_out}
    if isinstance(value, list):
        kept = [_pruned(inner, leave_out) for inner in value]
        is_objects = any(isinstance(inner, dict) for inner in kept)
        return sorted(kept, key=lambda one: json.dumps(one, sort_keys=True)) if is_objects else kept
    return value


def _without_topics(value: Any, names: frozenset[str]) -> Any:
    """Without the objects that are about one of these topics; None when that is the value."""
    if isinstance(value, dict):
        if value.get("name") in names or value.get("resource_name") in names:
            return None
        return {key: _without_topics(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        kept = [_without_topics(inner, names) for inner in value]
        return [one for one in kept if one is not None]
    return value

"""Leftovers of an interrupted run on a cluster: found by name and removed, and nothing else.

Only objects that :mod:`harness.base.own_names` recognizes as ours are considered: topics, groups,
and quotas of which every entity is ours. The internal topics of a broker are not ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from harness.base.own_names import age_s
from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved, ResponseTimeout
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    DeleteGroupsRequest,
    DeleteTopicsRequest,
    DescribeClientQuotasRequest,
    ListGroupsRequest,
    MetadataResponse,
)
from harness.targets.info import TargetInfo

TIMEOUT_MS = 30_000
FIRST_DELETE_BY_ID = 6
GONE_ALREADY = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.GROUP_ID_NOT_FOUND)
BY_HAND = "kafka-topics --delete of the broker's own release can"
WHY_NOT = {
    ErrorCode.TOPIC_DELETION_DISABLED: "the broker has delete.topic.enable=false",
    ErrorCode.NON_EMPTY_GROUP: "it has members until their sessions time out: try again then",
}


class CannotLook(Exception):
    """The cluster does not show one kind of object, so its leftovers are unknown."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind}: {reason}")
        self.kind, self.reason = kind, reason


@dataclass(frozen=True, slots=True)
class Entity:
    """The entity of a quota: pairs of type and name, and the keys that are set."""

    names: tuple[tuple[str, str | None], ...]
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {name}" for kind, name in self.names)


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing of ours.

    ``remove`` returns why it could not be removed, "" when it is gone; raises BrokerMisbehaved.
    """

    kind: str
    name: str
    age_s: float
    remove: Callable[[], str]


class Leftovers:
    """All that is ours on a cluster, by names with ``prefix`` and at least ``older_than_s`` old."""

    def __init__(self, info: TargetInfo, prefix: str, older_than_s: float = 0.0) -> None:
        self._info, self._prefix, self._older_than_s = info, prefix, older_than_s
        self._bootstrap = self._client_of(info.addresses[0])
        self._clients: list[BrokerUnderTest] = []

    def __enter__(self) -> Leftovers:
        return self

    def __exit__(self, *_: object) -> None:
        for client in [self._bootstrap, *self._clients]:
            client.close()

    def find(self) -> Iterator[Leftover | CannotLook]:
        """Topics, groups and quotas, each with its removal; raises BrokerMisbehaved."""
        shown = self._bootstrap.metadata(None)
        self._clients = self._clients or self._clients_of_nodes(shown)
        for look in (self._groups, self._quotas, lambda: self._topics(shown)):
            try:
                yield from look()
            except CannotLook as problem:
                yield problem

    def _client_of(self, address: tuple[str, int]) -> BrokerUnderTest:
        info = self._info
        return BrokerUnderTest([address], info.api_versions, time_scale=info.time_scale)

    def _clients_of_nodes(self, shown: MetadataResponse) -> list[BrokerUnderTest]:
        """The controller first: in a cluster with ZooKeeper only it deletes topics."""
        nodes = sorted(shown.brokers, key=lambda one: one.node_id != shown.controller_id)
        return [self._client_of((node.host, node.port)) for node in nodes]

    def _age_s(self, name: str | None) -> float | None:
        """None for what is not ours, or too young."""
        age = age_s(name or "", self._prefix, time.time())
        return age if age is not None and age >= self._older_than_s else None

    # -- topics ------------------------------------------------------------------------------

    def _topics(self, shown: MetadataResponse) -> Iterator[Leftover]:
        for topic in shown.topics:
            age, name = self._age_s(topic.name), topic.name or ""
            if age is not None and not topic.is_internal:
                yield Leftover("topic", name, age, partial(self._delete_topic, name))

    def _delete_topic(self, name: str) -> str:
        if not self._bootstrap.advertised("DeleteTopics"):
            return f"the broker has no DeleteTopics (Kafka has since 0.10.1); {BY_HAND}"
        code: int = ErrorCode.NOT_CONTROLLER
        for client in self._clients:
            code = self._ask_to_delete(client, name)
            if code != ErrorCode.NOT_CONTROLLER:
                break
        if code not in GONE_ALREADY:
            return _why_not(code)
        try:
            self._bootstrap.eventually(
                lambda: name not in [one.name for one in self._bootstrap.metadata(None).topics],
                f"{name} is gone",
                TIMEOUT_MS,
            )
        except ResponseTimeout:
            return "its deletion was accepted, but it is still there"
        return ""

    @staticmethod
    def _ask_to_delete(client: BrokerUnderTest, name: str) -> int:
        version = client.version("DeleteTopics")
        request = DeleteTopicsRequest(timeout_ms=TIMEOUT_MS)
        if version >= FIRST_DELETE_BY_ID:
            request.topics = [DeleteTopicsRequest.DeleteTopicState(name=name)]
        else:
            request.topic_names = [name]
        return client.ask(request, version, tolerant=True).responses[0].error_code

    # -- groups ------------------------------------------------------------------------------

    def _groups(self) -> Iterator[Leftover]:
        """Each node lists the groups that it coordinates, and deletes them."""
        for client in self._clients if self._bootstrap.advertised("ListGroups") else []:
            answer = client.ask(ListGroupsRequest(), tolerant=True)
            if answer.error_code != ErrorCode.NONE:
                raise CannotLook("group", f"ListGroups: {ErrorCode.describe(answer.error_code)}")
            for group in answer.groups:
                age, name = self._age_s(group.group_id), group.group_id
                if age is not None:
                    yield Leftover("group", name, age, partial(_delete_group, client, name))

    # -- quotas ------------------------------------------------------------------------------

    def _quotas(self) -> Iterator[Leftover]:
        if not self._bootstrap.advertised("DescribeClientQuotas"):
            return
        answer = self._bootstrap.ask(DescribeClientQuotasRequest(components=[]), tolerant=True)
        if answer.error_code != ErrorCode.NONE:
            raise CannotLook(
                "quota", f"DescribeClientQuotas: {ErrorCode.describe(answer.error_code)}"
            )
        for entry in answer.entries or []:
            names = tuple((one.entity_type, one.entity_name) for one in entry.entity)
            entity = Entity(names, tuple(value.key for value in entry.values))
            ages = [self._age_s(name) for _, name in names]
            if ages and None not in ages:
                age = min(age for age in ages if age is not None)
                yield Leftover("quota", str(entity), age, partial(self._remove_quota, entity))

    def _remove_quota(self, entity: Entity) -> str:
        change = AlterClientQuotasRequest
        who = [change.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.names]
        removals = [change.OpData(key=key, value=0.0, remove=True) for key in entity.keys]
        request = change(entries=[change.EntryData(entity=who, ops=removals)])
        return _why_not(self._bootstrap.ask(request, tolerant=True).entries[0].error_code)


def remove(one: Leftover) -> str:
    """Remove it, and return the reason if it is still there, "" when it is gone."""
    try:
        return one.remove()
    except BrokerMisbehaved as problem:
        return str(problem)


def _delete_group(client: BrokerUnderTest, name: str) -> str:
    if not client.advertised("DeleteGroups"):
        return "the broker has no DeleteGroups (Kafka has since 1.1); its offsets will expire"
    answer = client.ask(DeleteGroupsRequest(groups_names=[name]), tolerant=True)
    return _why_not(answer.results[0].error_code)


def _why_not(code: int) -> str:
    if code in GONE_ALREADY:
        return ""
    known = WHY_NOT.get(ErrorCode(code)) if code in set(ErrorCode) else None
    return known or ErrorCode.describe(code)

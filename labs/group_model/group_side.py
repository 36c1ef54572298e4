"""One of the two brokers: the requests to it, its answers so far, and its view of the group.

A request that waits holds its connection, as Kafka answers in order; a client that sends another
request meanwhile uses another connection.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.client.connection import Address, Connection
from harness.client.errors import BrokerMisbehaved, ResponseTimeout
from harness.codec.apis import api_named
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.differential.normal_form import normal_form
from labs.group_model.kept import KeptRecords
from labs.group_model.names import MemberNames

ANSWER_TIMEOUT_MS = 20_000
_OPERATIONS_MAY_BE_ASKED = 3  # from this version of DescribeGroups on
_LOOK_MS = 1
"""The longest time of one look for an answer."""


@dataclass(frozen=True, slots=True)
class Server:
    """A broker that runs: ``served`` are the versions by API, ``topic_id`` of the topic we made."""

    spec: str
    address: Address
    served: Mapping[str, VersionRange]
    topic_id: str


class GroupSide:
    """One group at one broker."""

    def __init__(self, server: Server, group_id: str) -> None:
        self.server = server
        self.names = MemberNames(group_id, 0)
        self.names.said.add(group_id)
        self.names.ids["topic_id"] = [server.topic_id]
        self.answers: dict[int, Any] = {}
        self._raw: dict[int, Any] = {}
        self._waiting: dict[int, tuple[ConversationStep, Connection]] = {}
        self._idle: list[Connection] = []
        self._watch = Connection(server.address, "watch", ANSWER_TIMEOUT_MS)
        self._kept = KeptRecords(self._watch, group_id)

    # -- asking --------------------------------------------------------------------------------

    def send(self, number: int, client_id: str, step: ConversationStep) -> None:
        """Send a request without waiting for the answer."""
        connection = self._connection(client_id)
        self._waiting[number] = step, connection
        try:
            connection.send(self._message(step), step.version)
        except BrokerMisbehaved as problem:
            self._end(number, {"how": type(problem).__name__})

    def look(self) -> bool:
        """Take the answers that have arrived; True if there was any."""
        came = False
        for number, (step, connection) in list(self._waiting.items()):
            try:
                answer = connection.receive(_LOOK_MS)
            except ResponseTimeout:
                continue
            except BrokerMisbehaved as problem:
                self._end(number, {"how": type(problem).__name__})
            else:
                self._idle.append(connection)
                self._end(number, to_dict(answer, step.version))
            came = True
        return came

    def _end(self, number: int, raw: dict[str, Any]) -> None:
        step, _ = self._waiting.pop(number)
        self._raw[number] = raw
        if step.api == "JoinGroup":
            self.names.gives(number, raw.get("member_id", ""))

    def _connection(self, client_id: str) -> Connection:
        found = next((one for one in self._idle if one.client_id == client_id), None)
        if found is None:
            return Connection(self.server.address, client_id, ANSWER_TIMEOUT_MS)
        self._idle.remove(found)
        return found

    def _message(self, step: ConversationStep) -> Any:
        fields = self.names.filled(step.fields)
        return from_dict(api_named(step.api).request, step.version, fields)

    # -- what is seen --------------------------------------------------------------------------

    def waits(self, number: int) -> bool:
        """True if this request has no answer yet."""
        return number in self._waiting

    def answered(self, since: frozenset[int]) -> dict[int, tuple[ConversationStep, Any]]:
        """Return the answers to all requests but ``since``, with their steps."""
        return {n: self._raw[n] for n in sorted(self._raw) if n not in since}

    def meaning(self, number: int, api: str) -> Any:
        """Return an answer in normal form, with its lists sorted."""
        return in_order(normal_form(api, self._raw[number], self.names))

    def ask(self, step: ConversationStep) -> Any:
        """Send a request on a connection of its own and return its answer, raw."""
        return to_dict(self._watch.ask(self._message(step), step.version), step.version)

    def described(self) -> Any:
        """Return the group as DescribeGroups shows it, in normal form."""
        version = self.server.served["DescribeGroups"].highest
        asked: dict[str, Any] = {"groups": ["$name"]}
        if version >= _OPERATIONS_MAY_BE_ASKED:
            asked["include_authorized_operations"] = False
        step = ConversationStep("DescribeGroups", version, asked)
        return in_order(normal_form(step.api, self.ask(step)["groups"][0], self.names))

    def kept(self) -> Any:
        """Return the coordinator's records of the group so far, in normal form."""
        return self._kept.look(self.names)

    # -- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Let all members leave, and give up requests that wait."""
        with contextlib.suppress(BrokerMisbehaved):
            version = self.server.served["LeaveGroup"].lowest
            found = self.ask(ConversationStep("DescribeGroups", 0, {"groups": ["$name"]}))[
                "groups"
            ][0]
            for one in found["members"]:
                fields = {"group_id": "$name", "member_id": one["member_id"]}
                self.ask(ConversationStep("LeaveGroup", version, fields))
        self._watch.close()
        for connection in [*self._idle, *(one for _, one in self._waiting.values())]:
            connection.close()


def in_order(value: Any) -> Any:
    """Return the value with its lists sorted: lists in a group's answers have no order."""
    if isinstance(value, Mapping):
        return {key: in_order(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted((in_order(inner) for inner in value), key=json.dumps)
    return value

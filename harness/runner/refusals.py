"""The requests of one case that the broker refused because the user of the run lacks a right.

Noted at clusters that others run, where the rights of the user are not ours. An answer says that a
right to a topic, a group, ... is missing, not which operation: ``needed_rights.tsv`` has the
operation of each API. It says what the permission matrix of the suites says; a test compares them.

Only connections that enter as the user of the run are watched: a user that a test adds is refused
on purpose.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.codec import CodecError, decode_prefix
from harness.codec.apis import APIS, Api
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_request_header, decode_response
from harness.codec.messages import (
    AddPartitionsToTxnResponse,
    DescribeLogDirsResponse,
    FetchRequest,
    InitProducerIdRequest,
    InitProducerIdResponse,
    MetadataRequest,
    ProduceRequest,
)
from harness.codec.structs import Message, Struct
from harness.conformance.missing_rights import MissingRight, RightRefused

TABLE = Path(__file__).with_name("needed_rights.tsv")
_CLUSTER, CLUSTER_NAME = "cluster", "kafka-cluster"
AREAS_OF_REFUSALS = frozenset({"ACL", "AUTHZ"})
"""Their cases have requests refused on purpose: only missing rights to the cluster count there."""

_NAMES: Mapping[ErrorCode, tuple[str, tuple[str, ...]]] = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: ("topic", ("name", "topic", "topic_name")),
    ErrorCode.GROUP_AUTHORIZATION_FAILED: ("group", ("group_id",)),
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: (_CLUSTER, ()),
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
        "transactional-id",
        ("transactional_id", "v3_and_below_transactional_id"),
    ),
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: ("user", ("owner_principal_name",)),
}
"""By the error: the kind of the resource, and the fields that have its name."""
_OF_CONFIGS, _OF_COORDINATORS = "resource_name", "key"
"""Fields that have the name of a resource of any kind."""
_OF_A_PART = "topic_config_error_code"
"""CreateTopics makes the topic, and leaves out its configs."""
_BY_BROKERS = "CLUSTER_ACTION"
"""What requests that are not in the table need to the cluster: those of brokers."""
_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Topics that clients may not add to a transaction, whatever rights they have."""
_LOG_DIRS_WITH_ERROR = 3
"""From this version on the answer of DescribeLogDirs has an error."""
_CREATION_IS_REQUESTED = 4
"""From this version on a Metadata request says that topics may be created."""
_WRITE, _TWO_PHASES = "WRITE", "TWO_PHASE_COMMIT"
"""InitProducerId with two phases needs both, and its answer does not say which one is missing."""


_EMPTY = '""'


class _Asked(NamedTuple):
    """A request; ``message``: None if its body has another form."""

    api: Api
    version: int
    message: Message | None


class _Place(NamedTuple):
    api: str
    error: str
    field: str


@cache
def _table() -> Mapping[_Place, str]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            _Place(row["api"], row["error"], row["field"]): row["operation"]
            for row in csv.DictReader(file, delimiter="\t")
        }


class _WatchedConnection:
    """Pairs the requests and answers of one connection, also those that a test makes of bytes."""

    def __init__(self, see: Callable[[_Asked, Message], None]) -> None:
        self._see = see
        self._asked: dict[int, _Asked] = {}

    def sent(self, payload: bytes) -> None:
        """Remember a request that can be read, by its correlation id."""
        with suppress(CodecError):
            header, start = decode_request_header(payload, tolerant=True)
            api, version = APIS[header.request_api_key], header.request_api_version
            message: Message | None = None
            with suppress(CodecError):
                message, _ = decode_prefix(api.request, version, payload, start, tolerant=True)
            self._asked[header.correlation_id] = _Asked(api, version, message)

    def received(self, payload: bytes) -> None:
        """See the answer to a request that is remembered."""
        asked = self._asked.pop(int.from_bytes(payload[:4], signed=True), None)
        if asked is not None:
            with suppress(CodecError):
                _, answer = decode_response(asked.api, asked.version, payload, tolerant=True)
                self._see(asked, answer)


class Refusals:
    """The refusals of one case, from all of its connections.

    Args:
        name_prefix: begins the names of all that the run makes.
        areas: those of the requirements that the case judges.
    """

    def __init__(
        self,
        name_prefix: str,
        areas: Collection[str] = (),
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._name_prefix, self._now_s = name_prefix, now_s
        self._only_cluster = not AREAS_OF_REFUSALS.isdisjoint(areas)
        self._may_write = False
        self.found: list[RightRefused] = []

    @property
    def count(self) -> int:
        """The number of refusals so far."""
        return len(self.found)

    def new_connection(self) -> _WatchedConnection:
        """Return the watch of one connection."""
        return _WatchedConnection(self._see)

    def _see(self, asked: _Asked, answer: Message) -> None:
        self._may_write |= _shows_write(asked, answer)
        for error, field, structs in (*_refused(answer, ()), *_refused_unsaid(answer, asked)):
            if self._only_cluster and error != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
                continue
            around = structs if asked.message is None else (*structs, asked.message)
            name = _name(error, around)
            if _is_refused_to_all(answer, error, name, asked):
                continue
            operation = operation_of(asked.api.name, error, field)
            right = MissingRight(operation, _NAMES[error][0], self._pattern(error, name))
            only_api = asked.api.key if field == _OF_A_PART else None
            self.found += [
                RightRefused(one, self._now_s(), only_api)
                for one in _by_request(right, asked)
                if not (_has_two_phases(asked) and one.operation == _WRITE and self._may_write)
            ]

    def _pattern(self, error: ErrorCode, name: str | None) -> str:
        """The name, or the prefix of the run, which also what has an id alone was made with.

        A test of letters has names with the prefix in capitals.
        """
        if error == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            return CLUSTER_NAME
        begin = self._name_prefix if name is None else name[: len(self._name_prefix)]
        if begin.lower() == self._name_prefix.lower():
            return f"{begin}*"
        return name or _EMPTY


def operation_of(api: str, error: ErrorCode, field: str) -> str:
    """The operation that a request of this API needs, by the field that has the error."""
    return _table().get(_Place(api, error.name, field), _BY_BROKERS)


def _is_refused_to_all(answer: Message, error: ErrorCode, name: str | None, asked: _Asked) -> bool:
    """True where no right would help: the internal topics, and a missing transactional id."""
    if isinstance(answer, AddPartitionsToTxnResponse):
        return name in _INTERNAL
    request = asked.message
    is_of_transaction = error == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if is_of_transaction and isinstance(request, ProduceRequest):
        return request.transactional_id is None
    return False


def _by_request(right: MissingRight, asked: _Asked) -> tuple[MissingRight, ...]:
    """The rights that this form of the request needs in place of the usual one.

    Metadata before v4 may create topics too, but is sent for those that exist as well.
    """
    request = asked.message
    if isinstance(request, FetchRequest) and _is_of_replica(request):
        return (MissingRight(_BY_BROKERS, _CLUSTER, CLUSTER_NAME),)
    if isinstance(request, MetadataRequest) and asked.version >= _CREATION_IS_REQUESTED:
        creates = request.allow_auto_topic_creation
        return (right._replace(operation="CREATE") if creates else right,)
    if _has_two_phases(asked):
        return right, right._replace(operation=_TWO_PHASES)
    return (right,)


def _has_two_phases(asked: _Asked) -> bool:
    return isinstance(asked.message, InitProducerIdRequest) and asked.message.enable2_pc


def _shows_write(asked: _Asked, answer: Message) -> bool:
    """True if the user may write with the ids of the run: one has begun without two phases."""
    if not isinstance(asked.message, InitProducerIdRequest) or _has_two_phases(asked):
        return False
    is_begun = isinstance(answer, InitProducerIdResponse) and answer.error_code == ErrorCode.NONE
    return is_begun and asked.message.transactional_id is not None


def _is_of_replica(request: FetchRequest) -> bool:
    return max(request.replica_id, request.replica_state.replica_id) >= 0


def _refused(
    struct: Struct, above: tuple[Struct, ...]
) -> Iterator[tuple[ErrorCode, str, tuple[Struct, ...]]]:
    """Each refusal in an answer: the error, its field, and the structs around it, inside first."""
    around = (struct, *above)
    for field in struct.spec.fields:
        value = getattr(struct, field.name)
        if field.kind == "int16" and field.name.endswith("error_code"):
            if value in _NAMES:
                yield ErrorCode(value), field.name, around
        elif field.struct is not None and value:
            for element in value if field.kind == "array" else (value,):
                yield from _refused(element, around)


def _refused_unsaid(
    answer: Message, asked: _Asked
) -> Iterator[tuple[ErrorCode, str, tuple[Struct, ...]]]:
    """The refusal of a form without a field for it: every broker has log directories."""
    is_without_error = asked.version < _LOG_DIRS_WITH_ERROR
    if isinstance(answer, DescribeLogDirsResponse) and is_without_error and not answer.results:
        yield ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "error_code", (answer,)


def _name(error: ErrorCode, structs: tuple[Struct, ...]) -> str | None:
    """The name of the refused resource, from the innermost struct that has one."""
    fields = (*_NAMES[error][1], _OF_CONFIGS, _OF_COORDINATORS)
    names = [getattr(struct, field, None) for struct in structs for field in fields]
    texts = [name for name in names if isinstance(name, str)]
    has_id = any(getattr(struct, "topic_id", ZERO_UUID) != ZERO_UUID for struct in structs)
    return next(filter(None, texts), None if has_id or not texts else "")

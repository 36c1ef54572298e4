"""One broker: requests in as bytes, responses out as bytes, effects carried out between them."""

import base64
import random
import time
from dataclasses import dataclass

from harness.codec import DecodeError, decode_prefix
from harness.codec.apis import API_VERSIONS_KEY, APIS
from harness.codec.header import RequestRefused, decode_request_header, encode_response
from harness.codec.messages import RequestHeader
from harness.ids import BrokerId, PartitionIndex, TimeMs
from harness.reference_broker.effects import Effect, PartitionGrew
from harness.reference_broker.handlers.api_18_api_versions import fallback_answer
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    NoAnswer,
    PartitionKey,
    RequestContext,
    Wait,
)
from harness.reference_broker.handlers.table import ADVERTISED, HANDLERS
from harness.reference_broker.purgatory import Purgatory
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.broker import (
    BrokerIdentity,
    BrokerLimits,
    BrokerState,
    InternalTopicSizes,
    internal_topics_of,
)
from harness.reference_broker.state.cluster import Cluster
from harness.reference_broker.state.fetch_sessions import FetchSessions
from harness.reference_broker.state.producer_ids import ProducerIds
from harness.reference_broker.state.randomness import Randomness, random_uuid
from harness.reference_broker.state.topic_creation import CreationDefaults


class RequestRejected(Exception):
    """The request cannot be answered: its connection has to be closed. The message says why."""


@dataclass(frozen=True, slots=True)
class _Request:
    header: RequestHeader
    body_offset: int


class Node:
    """A broker without its sockets."""

    def __init__(
        self,
        settings: BrokerSettings,
        host: str,
        port: int,
        randomness: Randomness | None = None,
    ) -> None:
        self._randomness: Randomness = random.Random() if randomness is None else randomness
        self.state = _state_of(settings, host, port, self._randomness)
        self.purgatory = Purgatory()

    async def respond(self, payload: bytes) -> bytes | None:
        """The response to one request, without its length; None when it wants none.

        Raises RequestRejected. Cancelling is safe while it waits.
        """
        request = _read_header(payload)
        if request is None:
            return self._unserved_api_versions(payload)
        header = request.header
        version = header.request_api_version
        api = APIS[header.request_api_key]
        try:
            body, _ = decode_prefix(
                api.request, version, payload, request.body_offset, tolerant=True
            )
        except DecodeError as error:
            raise RequestRejected(str(error)) from error
        context = self._context(header)
        outcome = HANDLERS[api.key].handle(body, context)
        self._carry_out(context.effects)
        if isinstance(outcome, CloseConnection):
            raise RequestRejected(outcome.reason)
        if isinstance(outcome, NoAnswer):
            return None
        if isinstance(outcome, Wait):
            outcome = Answer(await self.purgatory.wait(outcome, now_ms()))
        return encode_response(outcome.message, version, header.correlation_id)

    def _unserved_api_versions(self, payload: bytes) -> bytes:
        """ApiVersions at an unknown version: the body is not looked at, the answer is of v0."""
        try:
            header, _ = decode_request_header(payload, tolerant=True)
        except RequestRefused as refused:
            header = refused.header
        return encode_response(fallback_answer(self._context(header)), 0, header.correlation_id)

    def _context(self, header: RequestHeader) -> RequestContext:
        return RequestContext(
            header.request_api_version,
            header.client_id,
            self.state,
            ADVERTISED,
            now_ms,
            self._randomness,
        )

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            self.purgatory.wake(_keys_of(effect))


def now_ms() -> TimeMs:
    """The wall clock."""
    return TimeMs(time.time_ns() // 1_000_000)


def _read_header(payload: bytes) -> _Request | None:
    """None for ApiVersions at a version that is not served; raises RequestRejected."""
    try:
        header, body_offset = decode_request_header(payload, tolerant=True)
    except RequestRefused as refused:
        if refused.header.request_api_key == API_VERSIONS_KEY:
            return None
        raise RequestRejected(str(refused)) from refused
    except DecodeError as error:
        raise RequestRejected(str(error)) from error
    registration = HANDLERS.get(header.request_api_key)
    if registration is None or not registration.serves(header.request_api_version):
        if header.request_api_key == API_VERSIONS_KEY:
            return None
        raise RequestRejected(
            f"api key {header.request_api_key} version {header.request_api_version} is not served"
        )
    return _Request(header, body_offset)


def _keys_of(effect: Effect) -> list[PartitionKey]:
    if isinstance(effect, PartitionGrew):
        return [(effect.topic_id, effect.partition_index)]
    return [(effect.topic_id, PartitionIndex(i)) for i in range(effect.partition_count)]


def _state_of(
    settings: BrokerSettings, host: str, port: int, randomness: Randomness
) -> BrokerState:
    broker_id = BrokerId(settings.number("node.id"))
    number = settings.number
    return BrokerState(
        identity=BrokerIdentity(
            broker_id,
            host,
            port,
            settings.text("broker.rack") or None,
            base64.urlsafe_b64encode(random_uuid(randomness).bytes).decode().rstrip("="),
        ),
        limits=BrokerLimits(
            auto_create_topics=settings.flag("auto.create.topics.enable"),
            delete_topics=settings.flag("delete.topic.enable"),
            describe_partitions=number("max.request.partition.size.limit"),
            fetch_max_bytes=number("fetch.max.bytes"),
            transaction_max_timeout_ms=number("transaction.max.timeout.ms"),
        ),
        creation_defaults=CreationDefaults(
            broker_id,
            number("num.partitions"),
            number("default.replication.factor"),
            settings.topic_defaults,
        ),
        internal_topics=internal_topics_of(_internal_sizes(settings)),
        cluster=Cluster(number("producer.id.expiration.ms")),
        fetch_sessions=FetchSessions(number("max.incremental.fetch.session.cache.slots")),
        producer_ids=ProducerIds(),
    )


def _internal_sizes(settings: BrokerSettings) -> InternalTopicSizes:
    def sizes(prefix: str) -> tuple[int, int]:
        return (
            settings.number(f"{prefix}.num.partitions"),
            settings.number(f"{prefix}.segment.bytes"),
        )

    return InternalTopicSizes(
        sizes("offsets.topic"),
        sizes("transaction.state.log"),
        sizes("share.coordinator.state.topic"),
    )

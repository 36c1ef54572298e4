"""CONF, QUOTA: configs and quotas do not only look the same after a restart, they act the same."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceResponse
from harness.codec.records import CODEC_MASK
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.config_admin import BROKER, AlterOperation, change
from suites.protocol.support.expect import expect_error
from suites.protocol.support.quota_answers import CLIENT, set_quotas

PARTITIONS = {"CONF-042": 3, "QUOTA-021": 2}
"""Numbers of partitions of the newest topic, by which a defect recognizes its test."""

OF_TOPIC, OF_BROKERS = 1_000, 3_000
"""Limits of a batch, by max.message.bytes and by message.max.bytes of all brokers."""

SLOW, FAST = "slow", "fast"
MUCH_BYTES = 300_000


class ConfiguredTopics:
    """Topics with batches that show the effect of configs."""

    def __init__(self, client: BrokerUnderTest) -> None:
        self.client = client
        self.small = client.create_topic(configs={"max.message.bytes": str(OF_TOPIC)})
        self.timed = client.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
        self.packed = client.create_topic(configs={"compression.type": "gzip"})
        self.inherits = client.create_topic(PARTITIONS["CONF-042"])
        changed = ("message.max.bytes", AlterOperation.SET, str(OF_BROKERS))
        code = change(client, (BROKER, ""), changed)
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"IncrementalAlterConfigs: {ErrorCode.describe(code)}", code)
        client.eventually(lambda: self.refused(self.inherits, OF_BROKERS), "the limit has effect")

    def refused(self, topic: Topic, limit: int) -> bool:
        """True if a batch that is larger than the limit is refused."""
        code = self.client.produce(topic, batch_of(bytes(limit + 100))).error_code
        return code == ErrorCode.MESSAGE_TOO_LARGE

    def expect_limit(self, topic: Topic, limit: int, when: str) -> None:
        """A batch above the limit is refused, a smaller one is not."""
        code = self.client.produce(topic, batch_of(bytes(limit + 100))).error_code
        expect_error(code, ErrorCode.MESSAGE_TOO_LARGE, f"{when} a batch above {limit} bytes")
        code = self.client.produce(topic, batch_of(bytes(limit // 2))).error_code
        expect_error(code, ErrorCode.NONE, f"{when} a batch of half of {limit} bytes")

    def expect_time_of_broker(self, when: str) -> None:
        """The broker decides about the time of a batch."""
        answer = self.client.produce(self.timed, batch_of(b"timed"))
        expect_error(answer.error_code, ErrorCode.NONE, f"{when} Produce")
        time_ms = answer.log_append_time_ms
        assert time_ms >= 0, f"{when} with LogAppendTime log_append_time is {time_ms}"

    def expect_packed(self, when: str) -> None:
        """The broker compresses the batch."""
        append(self.client, self.packed, batch_of(b"packed" * 100))
        codec = batches_of(self.client, self.packed)[-1].attributes & CODEC_MASK
        told = f"{when} with compression.type=gzip a batch has codec {codec}"
        assert codec == CODEC_IDS["gzip"], told


@judges("CONF-042")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_configs_have_effect_after_restarts(persistent_broker: PersistentBroker) -> None:
    """Of topics, and of all brokers for a topic that inherits it, after a stop and after a kill."""
    client = persistent_broker.client
    client.version("IncrementalAlterConfigs")
    topics = ConfiguredTopics(client)
    with requirement("CONF-042") as check:
        for when in ("after a stop,", "after a kill,"):
            (persistent_broker.stop if "stop" in when else persistent_broker.kill)()
            persistent_broker.start()
            for topic in (topics.small, topics.timed, topics.packed, topics.inherits):
                await_back(client, topic)
            with check.subtest(f"{when} max.message.bytes"):
                topics.expect_limit(topics.small, OF_TOPIC, when)
            with check.subtest(f"{when} message.max.bytes"):
                topics.expect_limit(topics.inherits, OF_BROKERS, when)
            with check.subtest(f"{when} message.timestamp.type"):
                topics.expect_time_of_broker(when)
            with check.subtest(f"{when} compression.type"):
                topics.expect_packed(when)


def _throttled_ms(client: BrokerUnderTest, topic: Topic, client_id: str) -> int:
    """Return the throttle time of a large batch of this client."""
    version = client.version("Produce")
    request = produce_request(topic, batch_of(bytes(MUCH_BYTES)), version)
    answer = client.connect(client_id).ask(request, version)
    assert isinstance(answer, ProduceResponse)
    code = answer.responses[0].partition_responses[0].error_code
    expect_error(code, ErrorCode.NONE, f"Produce of the client {client_id}")
    return answer.throttle_time_ms


@judges("QUOTA-021")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_quota_has_effect_after_restarts(persistent_broker: PersistentBroker) -> None:
    """A client with a quota is throttled after a stop and after a kill, another is not."""
    client = persistent_broker.client
    client.version("AlterClientQuotas")
    topic = client.create_topic(PARTITIONS["QUOTA-021"])
    set_quotas(client, {((CLIENT, SLOW),): {"producer_byte_rate": 1_000.0}})
    with requirement("QUOTA-021") as check:
        for when in ("after a stop,", "after a kill,"):
            (persistent_broker.stop if "stop" in when else persistent_broker.kill)()
            persistent_broker.start()
            await_back(client, topic)
            for client_id in (SLOW, FAST):
                with check.subtest(f"{when} {client_id}"):
                    waits_ms = client.last_seen(
                        partial(_throttled_ms, client, topic, client_id),
                        lambda waits_ms, client_id=client_id: waits_ms > 0 or client_id == FAST,  # type: ignore[misc]
                    )
                    told = f"{when} the client {client_id} is throttled for {waits_ms} ms"
                    assert (waits_ms > 0) == (client_id == SLOW), told

"""PROD: a request for several topics, which differ in their configs or are named twice."""

from __future__ import annotations

from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest, ProduceResponse
from harness.codec.records import CODEC_MASK, LOG_APPEND_TIME, Record, RecordBatch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.partition_log import stored_batches
from suites.protocol.support.record_formats import encoded_for

LIMIT_BYTES = 1_000
CONFIGS = {
    "plain": {},
    "small": {"max.message.bytes": str(LIMIT_BYTES)},
    "timed": {"message.timestamp.type": "LogAppendTime"},
    "packed": {"compression.type": "gzip"},
    "keyed": {"cleanup.policy": "compact"},
}


class _Result(NamedTuple):
    """The result of a topic: parts of the answer, and the attributes of its stored batches."""

    error: str
    has_broker_time: bool
    bad_records: list[int]
    has_message: bool
    attributes: list[int]


def _results(
    broker: BrokerUnderTest, topics: dict[str, Topic], batch: bytes, version: int
) -> dict[str, _Result]:
    """Append the batch to these topics in one request. Return the result of each by its name."""
    request = ProduceRequest(acks=-1, timeout_ms=10_000)
    for topic in topics.values():
        request.topic_data += produce_request(topic, batch, version).topic_data
    answered = _by_topic(broker.ask(request, version), topics)
    found = {}
    for name, topic in topics.items():
        (told,) = answered[name]
        stored = stored_batches(broker, topic)
        found[name] = _Result(
            ErrorCode.describe(told.error_code),
            told.log_append_time_ms >= 0,
            [one.batch_index for one in told.record_errors],
            told.error_message is not None,
            [one.attributes & (CODEC_MASK | LOG_APPEND_TIME) for one in stored],
        )
    return found


def _by_topic(
    answer: ProduceResponse, topics: dict[str, Topic]
) -> dict[str, list[ProduceResponse.PartitionProduceResponse]]:
    """The results of each topic's partitions, in the order of the answer."""
    return {
        name: [
            result
            for entry in answer.responses
            if entry.name == topic.name or (topic.id.int and entry.topic_id == topic.id)
            for result in entry.partition_responses
        ]
        for name, topic in topics.items()
    }


@judges("PROD-004")
@at_versions("Produce", "2", "3-12", "13+")
def test_topics_of_one_request_differ_in_configs_and_results(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A batch without keys for topics with other limits, time types, codecs and policies.

    Each topic does the same with it as one of its configs alone in a request, in both orders.
    """
    records = RecordBatch([Record(bytes(LIMIT_BYTES))] * 2, base_timestamp=now_ms())
    batch = encoded_for(api_version, records)
    expected: dict[str, _Result] = {}
    for name, configs in CONFIGS.items():
        alone = {name: broker.create_topic(configs=configs)}
        expected |= _results(broker, alone, batch, api_version)
    with requirement("PROD-004") as check:
        for order in (list(CONFIGS), list(CONFIGS)[::-1]):
            topics = {name: broker.create_topic(configs=CONFIGS[name]) for name in order}
            found = _results(broker, topics, batch, api_version)
            for name in order:
                with check.subtest(f"{name} of {order[0]} to {order[-1]}"):
                    assert found[name] == expected[name], (
                        f"the topic {name} of {order}: {found[name]}, alone it is {expected[name]}"
                    )


@judges("PROD-004")
@at_versions("Produce", "0-2", "3-12", "13+")
def test_topic_in_two_entries_of_produce_gets_batches_of_both(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One entry has partition 1, the other one 0, with another topic between them."""
    twice, between = broker.create_topic(partitions=2), broker.create_topic()
    append(broker, twice, batch_of(b"before"), partition=1)
    request = ProduceRequest(acks=-1, timeout_ms=10_000)
    batch = batch_of(b"appended", version=api_version)
    for topic, partition in ((twice, 1), (between, 0), (twice, 0)):
        entry = produce_request(topic, batch, api_version, partition=partition)
        request.topic_data += entry.topic_data
    topics = {"twice": twice, "between": between}
    with requirement("PROD-004"):
        answered = _by_topic(broker.ask(request, api_version), topics)
        found = sorted(
            (name, one.index, ErrorCode.describe(one.error_code), one.base_offset)
            for name, told in answered.items()
            for one in told
        )
        none = ErrorCode.describe(ErrorCode.NONE)
        expected = [("between", 0, none, 0), ("twice", 0, none, 0), ("twice", 1, none, 1)]
        assert found == expected, f"of three entries the results are {found}, not {expected}"
        ends = [broker.end_offset(twice, 0), broker.end_offset(twice, 1)]
        assert ends == [1, 2], f"the logs of the topic that is named twice end at {ends}"

"""CONN: a connection that is cut in the middle of a Produce."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.errors import ConnectionClosed
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ProduceRequest
from harness.conformance.checks import requirement
from harness.runner.faults import Faults, responses
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.cut_requests import LONG_STEP_BYTES, cuts, send_cut
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.partition_log import UntouchedLog, keys_and_values, stored_batches

CLIENT, HALF_CLOSING = "CONN-022", "CONN-022 half closed"
PARTITIONS = 3
VALUES = [b"%d of a pipeline" % number for number in range(8)]
ANSWERED = 4


def _plain(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


@judges("CONN-022")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
def test_cut_produce_appends_nothing(
    broker: BrokerUnderTest, faults: Faults, kept: KeptTopics, api_version: int
) -> None:
    """First the whole request, which is appended; then its beginning, up to one byte or another,
    before the connection is closed or reset: the log does not grow.
    """
    topic = kept.topic(broker, _plain)
    request = produce_request(topic, batch_of(b"cut", version=api_version), api_version)
    with faults.path() as path:
        before = broker.end_offset(topic)
        whole = broker.connect(CLIENT, through=path.address)
        whole.send(request, api_version)
        whole.receive_frame()
        log = UntouchedLog(broker, topic)
        if log.end != before + 1:
            raise PreparationFailed(f"the whole request: the log grew from {before} to {log.end}")
        with requirement("CONN-022"):
            at_bytes = cuts(request, api_version, CLIENT)
            send_cut(broker, path, request, api_version, CLIENT, at_bytes)
            log.expect_untouched("requests that were cut")


@judges("CONN-022")
@at_versions("Produce", "0-2", "3-8", "9-12", "13+")
def test_cut_produce_to_several_partitions_appends_to_none(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """A Produce for three partitions is cut in each of them, and behind the last."""
    topic = broker.create_topic(partitions=PARTITIONS)
    batch = batch_of(b"cut", version=api_version)
    request = produce_request(topic, batch, api_version)
    entry = only(request.topic_data, "topic")
    entry.partition_data = [
        ProduceRequest.PartitionProduceData(index=index, records=batch)
        for index in range(PARTITIONS)
    ]
    logs = [UntouchedLog(broker, topic, index) for index in range(PARTITIONS)]
    with requirement("CONN-022"), faults.path() as path:
        at_bytes = cuts(request, api_version, CLIENT, LONG_STEP_BYTES)
        send_cut(broker, path, request, api_version, CLIENT, at_bytes)
        for log in logs:
            log.expect_untouched(f"partition {log.partition} of requests that were cut")


@judges("CONN-022")
def test_cut_produce_on_half_closed_connection_gets_no_response(
    broker: BrokerUnderTest, faults: Faults, kept: KeptTopics
) -> None:
    """Only the client's direction ends, so it could hear an answer: the broker closes its own."""
    topic = kept.topic(broker, _plain)
    version = broker.version("Produce")
    request = produce_request(topic, batch_of(b"cut", version=version), version)
    log = UntouchedLog(broker, topic)
    with requirement("CONN-022", api_key=api_named("Produce").key, api_version=version):
        with faults.path() as path:
            at_bytes = cuts(request, version, HALF_CLOSING)
            send_cut(broker, path, request, version, HALF_CLOSING, at_bytes=at_bytes, ends=("end",))
        log.expect_untouched("requests that were cut")


@judges("CONN-022")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_cut_idempotent_produce_does_not_consume_sequence(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """Each batch of an idempotent producer is cut, then comes whole: it is appended, once."""
    topic, producer = broker.create_topic(), new_producer(broker)
    values = [b"first", b"second"]
    with requirement("CONN-022"), faults.path() as path:
        for sequence, value in enumerate(values):
            request = producer.request(topic, api_version, sequence, value)
            at_bytes = cuts(request, api_version, CLIENT, LONG_STEP_BYTES)
            send_cut(broker, path, request, api_version, CLIENT, at_bytes)
            retried = broker.connect(CLIENT, through=path.address).ask(request, api_version)
            answer = only(only(retried.responses, "topic").partition_responses, "partition")
            expect_error(answer.error_code, ErrorCode.NONE, f"batch {sequence}, whole at last")
        stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        assert stored == values, f"the log holds {stored}, whole came {values}"


@judges("CONN-004")
def test_reset_during_pipelined_produce_leaves_prefix_of_batches(
    broker: BrokerUnderTest, faults: Faults
) -> None:
    """Eight batches are sent at once, and the connection is cut at the fourth answer: what the log
    holds are the first of them in the order sent, four at least.
    """
    topic, version = broker.create_topic(), broker.version("Produce")
    frames = [
        encode_request(
            produce_request(topic, batch_of(value, version=version), version),
            version,
            number,
            "CONN-004",
        )
        for number, value in enumerate(VALUES)
    ]
    with requirement("CONN-004"), faults.path() as path:
        path.arm(responses("Produce").nth(ANSWERED).reset())
        connection = broker.connect("CONN-004", through=path.address)
        connection.send_bytes(b"".join(map(frame, frames)))
        try:
            while True:
                connection.receive_frame()
        except ConnectionClosed:
            path.expect_fired()
        stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        told = f"{len(VALUES)} batches were sent in order, {ANSWERED} answered; stored is {stored}"
        assert len(stored) >= ANSWERED, told
        assert stored == VALUES[: len(stored)], told

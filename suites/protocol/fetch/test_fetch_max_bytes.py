"""FETCH: limits on a response, of the request and of the broker, and min_bytes (KIP-541)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_request
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetch_waits import (
    APPEND_PATIENCE_MS,
    PATIENCE_MS,
    PROMPT,
    QUIET_MS,
    WOKEN,
    await_waiting,
    within,
)
from suites.protocol.support.fetching import (
    VALUES,
    entry_of,
    log_of_nine,
    partition_of,
    records_by_partition,
    values_of,
)
from suites.protocol.support.kept_topics import KeptTopics

LIMIT_BYTES = 4096
GATHERED_BYTES = 64 * 1024
SMALL, LARGE = 1500, 6000
"""Two small batches fit into the limit, three do not, nor does a large one."""
OVERHEAD_BYTES = 200  # of a batch with one record, generously


def _small_and_large(broker: BrokerUnderTest) -> Topic:
    """Three small batches in partition 0, as many in 1, a large one in 2."""
    topic = broker.create_topic(partitions=3)
    for partition in range(2):
        small = [batch_of(broker.random.randbytes(SMALL)) for _ in range(3)]
        append(broker, topic, *small, partition=partition)
    append(broker, topic, batch_of(broker.random.randbytes(LARGE)), partition=2)
    return topic


@judges("FETCH-054")
@needs_broker(Use.TUNED, {"fetch.max.bytes": str(LIMIT_BYTES)})
@at_versions("Fetch", "4-6", "7+")
def test_fetch_max_bytes_of_broker_limits_response(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A request for 1 MiB: full up to the limit, the first batch whole; less if asked for less.

    With min_bytes above the limit the broker does not wait: more will never be there.
    """
    topic = kept.topic(broker, _small_and_large)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    cases = [
        ((0, 1), 1 << 20, range(2 * SMALL, LIMIT_BYTES + 1)),
        ((2, 0), 1 << 20, range(LARGE, LARGE + OVERHEAD_BYTES)),
        ((1, 0), 2000, range(SMALL, 2001)),
    ]
    with requirement("FETCH-054") as check:
        for order, max_bytes, expected in cases:
            with check.subtest(f"partitions {order}, max_bytes {max_bytes}"):
                wanted = [entry_of(topic, api_version, dict.fromkeys(order, 0))]
                request = fetch_request(
                    wanted, max_wait_ms=wait_ms, min_bytes=max_bytes, max_bytes=max_bytes
                )
                connection = broker.connect()
                with within(PROMPT, wait_ms):
                    answer = connection.ask(request, api_version)
                sizes = {index: len(r) for index, r in records_by_partition(answer).items()}
                told = f"partitions {order}, max_bytes {max_bytes}: the bytes are {sizes}"
                assert sum(sizes.values()) in expected, f"{told}, the sum is not in {expected}"
                assert sizes[order[0]] > 0, f"{told}, none of the first partition"


@judges("FETCH-045")
@at_versions("Fetch", "3+")
def test_fetch_with_min_bytes_above_max_bytes_returns_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Room for less than the first batch, and more is wanted than there will ever be."""
    topic = kept.topic(broker, log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=GATHERED_BYTES, max_bytes=1)
    with requirement("FETCH-045"):
        connection = broker.connect()
        with within(PROMPT, wait_ms):
            response = connection.ask(request, api_version)
        found = values_of(partition_of(response))
        assert found == VALUES[:3], f"room for the first batch alone: {found} came"


@judges("FETCH-045")
@at_versions("Fetch", "3+")
def test_fetch_with_min_bytes_above_max_bytes_waits_for_max_bytes(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Room for two batches, and more is wanted: silence after the first, both after the second."""
    topic = broker.create_topic()
    # in the form in which it is stored, for its size counts
    batch = batch_of(b"half of it", version=broker.version("Produce"))
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    request = fetch_request(
        [entry_of(topic, api_version, {0: 0})],
        max_wait_ms=wait_ms,
        min_bytes=GATHERED_BYTES,
        max_bytes=2 * len(batch),
    )
    connection = broker.connect()
    with requirement("FETCH-045"):
        with within(WOKEN, wait_ms):
            connection.send(request, api_version)
            await_waiting(broker, connection)
            append(broker, topic, batch)
            connection.expect_silence(for_ms=QUIET_MS)
            append(broker, topic, batch)
            response = connection.receive()
        assert isinstance(response, FetchResponse)
        found = values_of(partition_of(response))
        assert found == [b"half of it"] * 2, f"room for two batches: {found} came"

"""FETCH: the limit of the broker on a response, whatever the request allows (KIP-541)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_request
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetch_waits import PATIENCE_MS, PROMPT, within
from suites.protocol.support.fetching import entry_of, records_by_partition
from suites.protocol.support.kept_topics import KeptTopics

LIMIT_BYTES = 4096
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

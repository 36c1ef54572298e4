"""EPOCH, FETCH: last_fetched_epoch in Fetch, as a consumer of one broker sends it (KIP-595)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_waits import PATIENCE_MS, PROMPT, within
from suites.protocol.support.fetching import partition_of, values_of
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch

VALUES = [b"0", b"1", b"2", b"3", b"4"]
START, END = 2, len(VALUES)
NOTHING = (-1, -1)


def _log_from_two_on(broker: BrokerUnderTest) -> Topic:
    """A batch for each value; partition 0 begins at START, partition 1 is idle."""
    topic = broker.create_topic(partitions=2)
    append(broker, topic, *(batch_of(value) for value in VALUES))
    delete_records(broker, topic, START)
    return topic


def _asked(topic: Topic, version: int, offset: int, epoch: int) -> FetchRequest.FetchTopic:
    """Partition 1 from its end, and partition 0 after a record of this epoch."""
    wanted = fetch_partition(offset)
    wanted.last_fetched_epoch = epoch
    return fetch_topic(topic, version, [fetch_partition(0, partition=1), wanted])


def _diverging(data: FetchResponse.PartitionData) -> tuple[int, int]:
    return data.diverging_epoch.epoch, data.diverging_epoch.end_offset


@judges("EPOCH-006")
@at_versions("Fetch", "12+")
def test_fetch_behind_end_of_last_fetched_epoch_returns_diverging_epoch_at_once(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One and more behind the end; beside an idle partition the answer does not wait."""
    topic = kept.topic(broker, _log_from_two_on)
    epoch = told_leader_epoch(broker, topic)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    with requirement("EPOCH-006") as check:
        for offset in (END + 1, END + 70):
            with check.subtest(f"offset {offset}"):
                wanted = [_asked(topic, api_version, offset, epoch)]
                request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
                connection = broker.connect()
                with within(PROMPT, wait_ms):
                    answer = connection.ask(request, api_version)
                data = partition_of(answer)
                expect_error(data.error_code, ErrorCode.NONE, f"offset {offset}")
                found = _diverging(data)
                told = f"offset {offset}: the diverging epoch is {found}, not {(epoch, END)}"
                assert found == (epoch, END), told
                assert not record_bytes(data), f"offset {offset}: records beside a diverging epoch"
                bounds = data.high_watermark, data.log_start_offset
                assert bounds == (END, START), f"high watermark and log start are {bounds}"
                assert _diverging(partition_of(answer, 1)) == NOTHING, "the idle one diverges"


@judges("EPOCH-006")
@at_versions("Fetch", "12+")
def test_fetch_within_last_fetched_epoch_returns_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """From the log's start, from its last record and from its end, which is no divergence."""
    topic = kept.topic(broker, _log_from_two_on)
    epoch = told_leader_epoch(broker, topic)
    with requirement("EPOCH-006") as check:
        for offset in (START, END - 1, END):
            with check.subtest(f"offset {offset}"):
                request = fetch_request([_asked(topic, api_version, offset, epoch)])
                data = partition_of(broker.ask(request, api_version))
                expect_error(data.error_code, ErrorCode.NONE, f"offset {offset}")
                found = _diverging(data)
                assert found == NOTHING, f"offset {offset}: the diverging epoch is {found}"
                values = values_of(data)
                assert values == VALUES[offset:], f"offset {offset}: {values} came"


@judges("FETCH-004")
@at_versions("Fetch", "12+")
def test_fetch_below_log_start_with_last_fetched_epoch_returns_offset_out_of_range(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """No divergence, though the epoch is that of the log."""
    topic = kept.topic(broker, _log_from_two_on)
    epoch = told_leader_epoch(broker, topic)
    with requirement("FETCH-004") as check:
        for offset in (0, START - 1):
            with check.subtest(f"offset {offset}"):
                request = fetch_request([_asked(topic, api_version, offset, epoch)])
                data = partition_of(broker.ask(request, api_version))
                expect_error(data.error_code, ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {offset}")
                assert _diverging(data) == NOTHING, f"offset {offset}: a diverging epoch came"

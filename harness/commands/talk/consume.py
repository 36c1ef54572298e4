"""``kafka-conformance talk consume``: the records of a topic, each as a line of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from itertools import islice

import click

from harness.client.aborted_producers import AbortedProducers
from harness.client.broker import BrokerUnderTest
from harness.client.older_forms import with_one_offset
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import (
    EARLIEST,
    LATEST,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.codec.records.any_format import read_records
from harness.codec.records.log_records import LogRecord
from harness.commands.talk.opened import OpenedTarget, opened, target_option
from harness.commands.talk.record_form import as_json

ISOLATION = {"read_uncommitted": 0, "read_committed": 1}
SPECIAL = {"earliest": EARLIEST, "latest": LATEST}
FIRST_BYTES, MOST_BYTES = 1 << 20, 1 << 30
"""Of one partition's answer: old brokers cut a batch that is larger."""
LIMIT_BYTES = 256 << 20
"""Of the decompressed records of one answer."""
END_WAIT_MS, FOLLOW_WAIT_MS = 1000, 500
"""Longest waits of an answer for records: those below the known end, and further ones."""


@click.command("consume")
@target_option
@click.option("--partition", type=int, help="This one alone.")
@click.option(
    "--from",
    "start",
    default="earliest",
    show_default=True,
    metavar="earliest|latest|OFFSET|@MS",
    help="The first record; @MS: the first since a time in milliseconds.",
)
@click.option("--count", type=click.IntRange(min=1), help="End after so many records.")
@click.option("--follow", is_flag=True, help="Wait for more at the end, until Ctrl-C.")
@click.option(
    "--isolation",
    type=click.Choice([*ISOLATION]),
    default="read_uncommitted",
    show_default=True,
    help="read_committed leaves out records of aborted transactions.",
)
@click.argument("topic")
def consume_command(
    spec: str,
    partition: int | None,
    start: str,
    count: int | None,
    follow: bool,
    isolation: str,
    topic: str,
) -> None:
    """Print the records of a topic, partition by partition, up to the present end of each.

    Exit 0: all read; 1: the broker refused it or sent records that cannot be read; 2: usage; 3: the
    target could not be asked.
    """
    if re.fullmatch(r"earliest|latest|@?\d+", start) is None:
        raise click.BadParameter(
            f"not earliest, latest, OFFSET or @MS: {start!r}", param_hint="--from"
        )
    with opened(spec) as target:
        reading = _Reading(target, topic, partition, ISOLATION[isolation])
        found = reading.all_records(start, follow=follow)
        with suppress(KeyboardInterrupt) if follow else nullcontext():
            for number, record in islice(found, count):
                click.echo(json.dumps(as_json(topic, number, record), ensure_ascii=False))


@dataclass(slots=True)
class _Place:
    """Where the reading of a partition is; ``end``: the offset where it ends."""

    partition: int
    leader: BrokerUnderTest
    offset: int
    end: int
    aborted: AbortedProducers = field(default_factory=AbortedProducers)


class _Reading:
    """Reads a topic from the leaders of its partitions."""

    def __init__(
        self, target: OpenedTarget, topic: str, partition: int | None, isolation: int
    ) -> None:
        self._target, self._isolation = target, isolation
        self._topic, leaders = target.topic(topic)
        if partition is not None and partition not in leaders:
            raise click.ClickException(f"{topic} has no partition {partition}")
        self._leaders = leaders if partition is None else {partition: leaders[partition]}

    def all_records(self, start: str, *, follow: bool) -> Iterator[tuple[int, LogRecord]]:
        """Each record with its partition; without ``follow`` those below the present ends."""
        places = [self._place(number, node, start) for number, node in self._leaders.items()]
        for place in places:
            while place.offset < place.end:
                before = place.offset
                yield from self._next(place, END_WAIT_MS)
                if place.offset == before:
                    raise click.ClickException(
                        f"{self._name(place.partition)}: no record comes from offset {before}, and "
                        f"the end is {place.end}"
                    )
        while follow:
            for place in places:
                yield from self._next(place, FOLLOW_WAIT_MS // len(places))

    def _place(self, partition: int, node: int, start: str) -> _Place:
        leader = self._target.at(node)
        end = self._listed(leader, partition, LATEST)
        if start.isdecimal():
            offset = int(start)
            if offset > end:
                raise click.ClickException(f"{self._name(partition)} ends at {end}, before {start}")
        else:
            asked = int(start[1:]) if start.startswith("@") else SPECIAL[start]
            offset = self._listed(leader, partition, asked)
        return _Place(partition, leader, end if offset < 0 else offset, end)

    def _listed(self, leader: BrokerUnderTest, partition: int, timestamp: int) -> int:
        """The offset for a time; -1 if no record is so late."""
        request = list_offsets_request(
            self._topic, timestamp, partition=partition, isolation_level=self._isolation
        )
        version = leader.version("ListOffsets")
        answer = leader.ask(request, version)
        told = with_one_offset(only(only(answer.topics, "topic").partitions, "partition"), version)
        self._require(told.error_code, partition)
        return int(told.offset)

    def _next(self, place: _Place, wait_ms: int) -> Iterator[tuple[int, LogRecord]]:
        """The records of the next answer that has any; the place moves behind them."""
        size_bytes = FIRST_BYTES
        while True:
            answer = self._fetched(place, wait_ms, size_bytes)
            reading = read_records(record_bytes(answer), limit_bytes=LIMIT_BYTES)
            if reading.problems:
                raise click.ClickException(f"{self._name(place.partition)}: {reading.problems[0]}")
            if reading.batches or not reading.partial_bytes or size_bytes >= MOST_BYTES:
                break
            size_bytes *= 2
        place.aborted.take(answer.aborted_transactions)
        for batch in reading.batches:
            is_left_out = bool(self._isolation) and place.aborted.leaves_out(batch)
            if not is_left_out and not batch.is_control:
                records = (one for one in batch.records if one.offset >= place.offset)
                yield from ((place.partition, one) for one in records)
            place.offset = max(place.offset, batch.last_offset + 1)

    def _fetched(self, place: _Place, wait_ms: int, size_bytes: int) -> FetchResponse.PartitionData:
        version = place.leader.reading_version(self._topic)
        wanted = fetch_partition(
            place.offset, partition=place.partition, partition_max_bytes=size_bytes
        )
        request = fetch_request(
            [fetch_topic(self._topic, version, [wanted])],
            max_wait_ms=wait_ms,
            min_bytes=1 if wait_ms else 0,
            isolation_level=self._isolation,
        )
        answer = place.leader.ask(request, version)
        told = only(only(answer.responses, "topic").partitions, "partition")
        self._require(told.error_code, place.partition)
        return told

    def _require(self, error_code: int, partition: int) -> None:
        if error_code != ErrorCode.NONE:
            said = ErrorCode.describe(error_code)
            raise click.ClickException(f"{self._name(partition)}: {said}")

    def _name(self, partition: int) -> str:
        return f"{self._topic.name}-{partition}"

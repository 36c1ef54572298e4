"""``kafka-conformance talk produce``: a record for each line of standard input."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import BinaryIO

import click

from harness.client.connection import Connection
from harness.client.older_forms import records_for
from harness.client.requests import produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.compression import CODEC_IDS
from harness.commands.talk.opened import OpenedTarget, opened, target_option
from harness.commands.talk.record_form import GivenRecord, NotARecord, from_json
from harness.historical.partitioners import partition_by_murmur2

ACKS = {"all": -1, "1": 1, "0": 0}
MOST_RECORDS, MOST_BYTES = 1000, 512 << 10
"""Of one batch; a larger record is a batch of its own."""


@click.command("produce")
@target_option
@click.option(
    "--partition",
    type=int,
    help="Of all records; else as a record says, by key as Java does, or in turn.",
)
@click.option("--acks", type=click.Choice([*ACKS]), default="all", show_default=True)
@click.option("--codec", type=click.Choice([*CODEC_IDS]), default="none", show_default=True)
@click.option("--key-separator", metavar="TEXT", help="What is before it in a line is the key.")
@click.option("--json", "as_json", is_flag=True, help="Each line is a record as `consume` prints.")
@click.argument("topic")
def produce_command(
    spec: str,
    partition: int | None,
    acks: str,
    codec: str,
    key_separator: str | None,
    as_json: bool,
    topic: str,
) -> None:
    """Write a record for each line of standard input, and print a line of JSON for each batch.

    With --json a line is an object with key, value, headers, timestamp and partition, each of which
    may be missing: what `talk consume` prints can be written again.

    Batches are collected for each partition and sent when they are full. After an error nothing
    more is sent: with several partitions earlier lines than those of the refused batch may be
    unwritten too. The printed lines list all that is written.

    Exit 0: all written; 1: the broker refused a batch; 2: usage; 3: the target could not be asked.
    """
    if as_json and key_separator:
        raise click.UsageError("with --json the key is a field: leave --key-separator out")
    separator = key_separator.encode() if key_separator else None
    lines = _lines(sys.stdin.buffer)
    with opened(spec) as target:
        writing = _Writing(target, topic, partition, ACKS[acks], codec)
        for number, line in lines:
            writing.add(_from_json(line, number) if as_json else _from_text(line, separator))
            if sys.stdin.isatty():
                writing.flush()
        writing.flush()


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(source, start=1):
        yield number, line.removesuffix(b"\n")


def _from_text(line: bytes, separator: bytes | None) -> GivenRecord:
    if separator is None or separator not in line:
        return GivenRecord(line)
    key, _, value = line.partition(separator)
    return GivenRecord(value, key)


def _from_json(line: bytes, number: int) -> GivenRecord:
    try:
        return from_json(json.loads(line))
    except (NotARecord, ValueError) as problem:
        raise click.UsageError(f"line {number}: {problem}") from problem


@dataclass(slots=True)
class _Pending:
    """The records of a partition that are not sent yet."""

    records: list[GivenRecord] = field(default_factory=list)
    size_bytes: int = 0


class _Writing:
    """Collects records by partition, and sends each batch to the leader."""

    def __init__(
        self, target: OpenedTarget, topic: str, partition: int | None, acks: int, codec: str
    ) -> None:
        self._target, self._partition, self._acks, self._codec = target, partition, acks, codec
        self._topic, self._leaders = target.topic(topic)
        self._turn = count()
        self._pending: dict[int, _Pending] = {}
        self._unanswered: dict[int, Connection] = {}

    def add(self, record: GivenRecord) -> None:
        """Take a record; a batch that is full is sent first."""
        partition = self._chosen(record)
        pending = self._pending.setdefault(partition, _Pending())
        size_bytes = len(record.key or b"") + len(record.value or b"")
        if len(pending.records) >= MOST_RECORDS or pending.size_bytes + size_bytes > MOST_BYTES:
            self._send(partition)
            pending = self._pending[partition]
        pending.records.append(record)
        pending.size_bytes += size_bytes

    def flush(self) -> None:
        """Send what is left."""
        for partition in list(self._pending):
            self._send(partition)

    def _chosen(self, record: GivenRecord) -> int:
        wanted = record.partition if self._partition is None else self._partition
        if wanted is None:
            partitions = len(self._leaders)
            any_partition = next(self._turn) % partitions if record.key is None else 0
            wanted = partition_by_murmur2(record.key, partitions, any_partition=any_partition)
        if wanted not in self._leaders:
            raise click.ClickException(f"{self._topic.name} has no partition {wanted}")
        return wanted

    def _send(self, partition: int) -> None:
        pending = self._pending.pop(partition)
        self._pending[partition] = _Pending()
        if not pending.records:
            return
        data = encode_batch(_batch(pending.records), self._codec)
        done = {"topic": self._topic.name, "partition": partition, "records": len(pending.records)}
        if self._acks == 0:
            self._send_unanswered(partition, data)
            click.echo(json.dumps(done))
            return
        leader = self._target.at(self._leaders[partition])
        answer = leader.produce(self._topic, data, partition=partition, acks=self._acks)
        if answer.error_code != ErrorCode.NONE:
            text = f": {answer.error_message}" if answer.error_message else ""
            raise click.ClickException(
                f"{self._topic.name}-{partition} refused {len(pending.records)} records: "
                f"{ErrorCode.describe(answer.error_code)}{text}"
            )
        click.echo(json.dumps({**done, "base_offset": answer.base_offset}))

    def _send_unanswered(self, partition: int, data: bytes) -> None:
        node = self._leaders[partition]
        leader = self._target.at(node)
        if node not in self._unanswered:
            self._unanswered[node] = leader.connect()
        version = leader.version("Produce")
        records = records_for(version, data)
        request = produce_request(self._topic, records, version, partition=partition, acks=0)
        self._unanswered[node].send(request, version)


def _batch(records: Sequence[GivenRecord]) -> RecordBatch:
    now_ms = int(time.time() * 1000)
    times = [now_ms if one.timestamp is None else one.timestamp for one in records]
    made = [
        Record(one.value, one.key, one.headers, timestamp_delta=at_ms - times[0])
        for one, at_ms in zip(records, times, strict=True)
    ]
    return RecordBatch(made, base_timestamp=times[0], max_timestamp=max(times))

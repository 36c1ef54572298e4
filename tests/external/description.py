"""A full description of a cluster: the snapshot, and what is stored in its logs and groups."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.messages import ListGroupsRequest, OffsetFetchRequest
from harness.sweep.snapshot import Snapshot, differences, take_snapshot
from labs.hang_limit import HANGS_AFTER_S
from tests.sweep.brokers import LONG_MS

EARLIEST = -2
ALL_BYTES = 1 << 24
SETTLED_WITHIN_S = HANGS_AFTER_S
POLL_S = 0.05


def describe(client: BrokerUnderTest) -> Snapshot:
    """Sections of lines; two descriptions of an unchanged cluster are equal.

    Over a new connection: a broker closes one that was idle for the ten minutes of a long run.
    """
    ranges = {key: (one.lowest, one.highest) for key, one in client.api_versions.items()}
    with closing(BrokerUnderTest([client.address], ranges)) as fresh:
        return {
            **take_snapshot(client.address, client.api_versions, LONG_MS),
            "records": frozenset(_records(fresh)),
            "committed offsets": frozenset(_committed(fresh)),
        }


def changes_since(before: Snapshot, client: BrokerUnderTest) -> list[str]:
    """Empty once the cluster is again as it was: a deletion takes its time to be seen all over."""
    deadline = time.monotonic() + SETTLED_WITHIN_S
    while (found := differences(before, describe(client))) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return found


def _records(client: BrokerUnderTest) -> Iterator[str]:
    """The bytes of each log, from its first offset on."""
    for shown in client.metadata(None).topics:
        if shown.is_internal or shown.error_code != 0:
            continue
        topic = Topic(shown.name or "", shown.topic_id)
        for partition in range(len(shown.partitions)):
            first = client.list_offset(topic, EARLIEST, partition=partition).offset
            fetched = client.fetch(topic, first, partition=partition, partition_max_bytes=ALL_BYTES)
            digest = hashlib.sha256(fetched.records or b"").hexdigest()
            told = f"{fetched.error_code} {fetched.log_start_offset} {fetched.high_watermark}"
            yield f"{topic.name}-{partition} from {first}: {told} {digest}"


def _committed(client: BrokerUnderTest) -> Iterator[str]:
    """Each offset of each group, with its metadata."""
    if not client.advertised("ListGroups"):
        return
    for group in client.ask(ListGroupsRequest()).groups:
        wanted = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group.group_id, topics=None)
        answer = client.ask(
            OffsetFetchRequest(groups=[wanted]), client.version("OffsetFetch", "8-9")
        )
        for topic in answer.groups[0].topics:
            for one in topic.partitions:
                yield (
                    f"{group.group_id}: {topic.name}-{one.partition_index} "
                    f"{one.committed_offset} {one.metadata!r}"
                )

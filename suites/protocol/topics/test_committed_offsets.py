"""TOPIC: what groups committed of a topic goes with it."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import commit, entry, fetch_offsets, fresh_group
from suites.protocol.support.gone_topics import delete_topic


@judges("TOPIC-034")
@at_versions("OffsetFetch", "2-9", "10+")
def test_deleted_topic_has_no_committed_offsets(broker: BrokerUnderTest, api_version: int) -> None:
    """Of all that a group committed, only what it committed of another topic is left."""
    going, staying = broker.create_topic(partitions=2), broker.create_topic()
    topics = [going, staying]
    group = fresh_group(broker, staying)
    commit(broker, group, {going: [entry(5), entry(7, "", 1)], staying: [entry(9)]})
    before = fetch_offsets(broker, group, None, api_version, known=topics)
    if len(before.partitions) != 3:
        raise PreparationFailed(f"three were committed, not {sorted(before.partitions)}")
    delete_topic(broker, going)

    def left() -> list[str]:
        found = fetch_offsets(broker, group, None, api_version, known=topics)
        return sorted(f"{name}-{index}" for name, index in found.partitions)

    with requirement("TOPIC-034"):
        only_staying = [f"{staying.name}-0"]
        broker.eventually(
            lambda: left() == only_staying, f"only {only_staying} are committed, not {left()}"
        )

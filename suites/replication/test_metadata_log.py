"""RAFT: the metadata of a cluster is a log, which brokers fetch from the active controller."""

from __future__ import annotations

from harness.codec.messages import TopicRecord
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.replication.support.metadata_log import ObservedMetadata, observe


@judges("RAFT-001")
@needs_broker(Use.JOINABLE)
def test_metadata_log_fetch_returns_created_topic_that_is_committed(peers: JoinedCluster) -> None:
    """A topic that CreateTopics has made is in the log, and all that is given is committed soon."""
    member = peers.joined()
    with requirement("RAFT-001"):
        before = observe(member)
        topic = peers.led_by(member).topic
        after = observe(member)
        made = [at for at, name in _topics(after).items() if name == topic.name]
        assert len(made) == 1, f"the topic is made at the offsets {made} of the metadata log"
        assert made[0] >= before.end, f"it is made at {made[0]}, the log ended at {before.end}"
        assert made[0] < after.high_watermark, (
            f"it is made at {made[0]}, the high watermark is {after.high_watermark}"
        )
        again = peers.broker.last_seen(
            lambda: observe(member), lambda seen: seen.high_watermark >= after.end
        )
        assert again.high_watermark >= after.end, (
            f"records up to {after.end} were given, committed are those to {again.high_watermark}"
        )
        for told in (before, after):
            kept = {at: again.records.get(at) for at in told.records}
            assert kept == told.records, "what was read before is another now"


def _topics(observed: ObservedMetadata) -> dict[int, str]:
    """The names of topics that were made, by offset."""
    return {at: one.name for at, one in observed.records.items() if isinstance(one, TopicRecord)}

"""OFFS: commits that the broker has no room for."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.committed_offsets import (
    ask_to_commit,
    commit,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)

LONGEST_METADATA = 4096
REFUSALS = (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ErrorCode.UNKNOWN_SERVER_ERROR)


@judges("OFFS-026")
@needs_broker(Use.OWN, {"message.max.bytes": "3000"})
def test_offset_commit_too_large_for_offsets_topic_is_refused(broker: BrokerUnderTest) -> None:
    """One partition's metadata alone is more than a batch of the offsets topic may have.

    The other one is not stored either; a smaller commit of both is stored afterwards.
    INVALID_COMMIT_OFFSET_SIZE, or UNKNOWN_SERVER_ERROR since there is a new coordinator.
    """
    topic = broker.create_topic(partitions=2)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "before")]})
    version = broker.version("OffsetCommit", "1+")
    with requirement("OFFS-026") as check:
        entries = {topic: [entry(7), entry(9, "m" * LONGEST_METADATA, 1)]}
        codes = ask_to_commit(broker, group, entries, version)
        assert len(codes) == 2, f"two were committed, the answer has {sorted(codes)}"
        for (_, partition), code in codes.items():
            with check.subtest(f"partition {partition}"):
                told = f"partition {partition}: {ErrorCode.describe(code)} is none of {REFUSALS}"
                assert code in REFUSALS, told
        fetch_offsets(broker, group, {topic: [0]}).expect(topic, 5, "before")
        codes = ask_to_commit(broker, group, {topic: [entry(7), entry(9, "short", 1)]}, version)
        expect_codes(codes, {(topic.name, index): ErrorCode.NONE for index in (0, 1)}, "smaller")
        found = fetch_offsets(broker, group, {topic: [0, 1]})
        found.expect(topic, 7, where="after a smaller commit")
        found.expect(topic, 9, "short", partition=1, where="after a smaller commit")

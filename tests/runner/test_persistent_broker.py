"""A test's own broker with data that outlives its process: ended, examined, started again."""

from pathlib import Path

import pytest

from tests.runner.conftest import SmallSuite
from tests.targets import kinds

TESTS = """
    @judges("RECV-001")
    @needs_broker(Use.PERSISTENT, {"log.dirs": "one,two"})
    def test_kept(persistent_broker):
        client = persistent_broker.client
        one, two = persistent_broker.folders
        topic = client.create_topic()
        assert persistent_broker.partition_folder(topic.name).parent in (one, two)
        before = persistent_broker.client.address
        for end in (persistent_broker.kill, persistent_broker.stop):
            end()
            assert not client.is_alive()
            persistent_broker.start()
            client.await_served(topic)
            assert client.address == before
        with requirement("RECV-001"):
            assert client.end_offset(topic) == 0

    @judges("RECV-001")
    @needs_broker(Use.PERSISTENT)
    def test_no_such_partition(persistent_broker):
        with pytest.raises(FileNotFoundError, match="absent-3"):
            persistent_broker.partition_folder("absent", 3)
        with requirement("RECV-001"):
            assert persistent_broker.client.is_alive()
"""


@pytest.mark.kafka
@pytest.mark.deep  # CI judges a Kafka with tests of the same kind
def test_persistent_kafka_broker_is_killed_stopped_and_restarted(tmp_path: Path) -> None:
    kinds.need_kafka()
    ended = SmallSuite(tmp_path, f"kafka:{kinds.KAFKA}").write(TESTS).run()
    assert set(ended.verdicts().values()) == {"passed"}, ended.output


@pytest.mark.rotates(8)
def test_persistent_broker_tests_are_not_applicable_to_external_broker(suite: SmallSuite) -> None:
    ended = suite.write(TESTS).run()
    assert set(ended.verdicts().values()) == {"not_applicable"}, ended.output

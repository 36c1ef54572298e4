"""`talk consume --isolation read_committed` leaves out what was aborted."""

from __future__ import annotations

from typing import Any

from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from tests.talk.talking import Talking
from tests.targets.round_trip import eventually


class Producer:
    """A transactional producer that speaks through ``talk ask``."""

    def __init__(self, talk: Talking, topic: str) -> None:
        self._talk, self._topic = talk, topic
        asked = {"key_type": 1, "coordinator_keys": [topic]}
        eventually(
            lambda: not talk.ask("FindCoordinator", asked)["coordinators"][0]["error_code"] or None,
            "the id has a coordinator",
        )
        wanted = {"transactional_id": topic, "transaction_timeout_ms": 60_000}
        begun = talk.ask("InitProducerId", wanted, "--version", "4")
        assert begun["error_code"] == 0
        self._names = {name: begun[name] for name in ("producer_id", "producer_epoch")}
        self._sequence = 0

    def write(self, value: bytes) -> None:
        """One record into partition 0."""
        partition = [{"name": self._topic, "partitions": [0]}]
        added: dict[str, Any] = {f"v3_and_below_{name}": of for name, of in self._names.items()}
        added |= {"v3_and_below_transactional_id": self._topic, "v3_and_below_topics": partition}
        self._talk.ask("AddPartitionsToTxn", added, "--version", "3")
        batch = RecordBatch(
            [Record(value)],
            attributes=TRANSACTIONAL,
            base_sequence=self._sequence,
            **self._names,
        )
        self._sequence += 1
        data = [{"index": 0, "records": encode_batch(batch).hex()}]
        topic = {"name": self._topic, "partition_data": data}
        produced = {"transactional_id": self._topic, "acks": -1, "topic_data": [topic]}
        answer = self._talk.ask("Produce", {**produced, "timeout_ms": 5000}, "--version", "9")
        assert answer["responses"][0]["partition_responses"][0]["error_code"] == 0

    def end(self, *, commit: bool) -> None:
        """Commit or abort."""
        asked = {"transactional_id": self._topic, "committed": commit, **self._names}
        assert self._talk.ask("EndTxn", asked, "--version", "3")["error_code"] == 0


def test_records_of_aborted_and_open_transactions_are_left_out(talk: Talking, topic: str) -> None:
    producer = Producer(talk, topic)
    for value, commit in ((b"first", True), (b"aborted", False), (b"second", True)):
        producer.write(value)
        producer.end(commit=commit)
    talk.produce("--partition", "0", topic, given="plain\n")
    producer.write(b"open")

    def values(*words: str) -> list[str]:
        return [one["value"] for one in talk.consume(*words, topic)]

    assert values() == ["first", "aborted", "second", "plain", "open"]
    committed = ("--isolation", "read_committed")
    assert values(*committed) == ["first", "second", "plain"]
    assert values(*committed, "--partition", "0", "--from", "2") == ["second", "plain"]
    producer.end(commit=True)
    assert values(*committed)[-1] == "open"

from collections.abc import Iterator
from typing import Any

from harness.codec.error_code import ErrorCode
from harness.differential.ended_transactions import EndedTransactions
from harness.differential.settling import CHANGES, FIRST_PRODUCER_IDS, Settling


class _WithAnswers(Settling):
    """Gets these answers to its requests, without a broker."""

    def __init__(self, answers: Iterator[dict[str, Any]]) -> None:
        self.answers = answers
        self._transactions = EndedTransactions(self._ask, self._until)

    def _ask(self, *_: Any) -> dict[str, Any]:
        return next(self.answers)


def test_first_producer_ids_are_passed_after_errors() -> None:
    """A new broker of Kafka has no ids until its controller has sent some."""
    loads = {"error_code": int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), "producer_id": -1}
    ids = [{"error_code": 0, "producer_id": number} for number in range(FIRST_PRODUCER_IDS + 1)]
    answers = iter([loads, loads, *ids])
    _WithAnswers(answers).pass_first_producer_ids()
    assert next(answers)["producer_id"] == FIRST_PRODUCER_IDS


def test_deleted_topic_is_awaited_until_its_name_is_free() -> None:
    """A controller with a ZooKeeper still has the name when its brokers show no topic."""
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    gone: dict[str, Any] = {"topics": [{"name": "t", "error_code": unknown}]}
    there = {"topics": [{"error_code": int(ErrorCode.TOPIC_ALREADY_EXISTS)}]}
    free = {"topics": [{"error_code": 0}]}
    answers = iter([gone, there, gone, free])
    deleted = {"responses": [{"error_code": 0, "name": "t"}]}
    settling = _WithAnswers(answers)
    settling._pass_barrier = lambda: None  # type: ignore[method-assign]
    settling.after("DeleteTopics", {}, deleted)
    assert not [*answers]


def test_offset_of_deleted_topic_is_looked_for_until_it_is_gone_and_not_again() -> None:
    there, gone = (
        {"topics": [{"partitions": [{"committed_offset": offset}]}]} for offset in (7, -1)
    )
    answers = iter([there, gone, gone])
    settling = _WithAnswers(answers)
    settling._witnesses = "w"
    settling._await_forgotten("t")
    assert settling._removes_offsets
    assert [*answers] == [gone]


def test_deleted_topic_of_old_broker_is_awaited_until_it_can_be_created_again() -> None:
    """With a ZooKeeper a topic is no longer shown before its deletion has ended."""

    class _Old(_WithAnswers):
        def _ask(self, name: str, lowest: int, *_: Any) -> Any:
            return None if (name, lowest) == ("Metadata", 4) else next(self.answers)

    exists = int(ErrorCode.TOPIC_ALREADY_EXISTS)
    shown: list[dict[str, Any]] = [
        {"topics": [{"name": "t", "error_code": 0, "partitions": []}]},
        {"topics": []},
        {"topics": [{"name": "t", "error_code": exists}]},
        {"topics": []},
        {"topics": [{"name": "t", "error_code": 0}]},
    ]
    answers = iter([*shown, {"topics": [{"name": "other"}]}])
    deleted = {"responses": [{"name": "t", "error_code": 0}]}
    settling = _Old(answers)
    settling.prefix, settling.barriers = "kc", 0
    for awaited in CHANGES["DeleteTopics"]({}, deleted):
        assert [settling._shows(awaited) for _ in range(3)] == [False, False, True]
    assert len(list(answers)) == 1


def test_topics_of_finished_conversation_are_deleted_by_first_version() -> None:
    shown = {"topics": [{"name": "kc-1-a"}, {"name": "other"}]}
    requests: list[tuple[str, int, Any]] = []

    class _First(Settling):
        def __init__(self) -> None:
            self.prefix, self._witnesses, self._removes_offsets = "kc-watch", "w", False
            self._transactions = EndedTransactions(self._ask, self._until)

        def _ask(self, name: str, lowest: int, _highest: int, fields: Any) -> Any:
            requests.append((name, lowest, fields.get("topic_names")))
            return shown

    _First().delete_topics("kc-1")
    assert requests[-1] == ("DeleteTopics", 0, ["kc-1-a"])

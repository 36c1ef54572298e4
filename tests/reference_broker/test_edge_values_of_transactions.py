"""Requests of transactions that name nothing, or something twice, as Kafka answers them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness.client.connection import Connection
from harness.codec.apis import api_named
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.error_code import ErrorCode
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from tests.reference_broker.conftest import TOPIC
from tests.reference_broker.running import create_topic, running_broker

UNKNOWN, MAPPING = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_PRODUCER_ID_MAPPING
FENCED = ErrorCode.INVALID_PRODUCER_EPOCH
RELEASES = ("4.4.0", "3.9.2", "2.8.2", "1.1.1")


def answered(connection: Connection, api: str, version: int, fields: dict[str, Any]) -> Any:
    request: Any = from_dict(api_named(api).request, version, fields)
    return to_dict(connection.ask(request, version), version)


@contextmanager
def broker_like(like: str) -> Iterator[Connection]:
    """A connection to a broker like a release, with its coordinators and a topic."""
    with running_broker(like=like) as address, Connection(address) as connection:
        create_topic(address, TOPIC, partitions=2)
        for key_type in (0, 1):
            answered(connection, "FindCoordinator", 1, {"key": "k", "key_type": key_type})
        yield connection


def asked(like: str, api: str, version: int, fields: dict[str, Any]) -> Any:
    with broker_like(like) as connection:
        return answered(connection, api, version, fields)


def transactional(producer_id: int) -> bytes:
    return encode_batch(
        RecordBatch(
            [Record(b"x")],
            attributes=TRANSACTIONAL,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
        )
    )


def added(answer: Any) -> list[tuple[str, list[tuple[int, int]]]]:
    return [
        (
            topic["name"],
            [
                (one["partition_index"], one["partition_error_code"])
                for one in topic["results_by_partition"]
            ],
        )
        for topic in answer
    ]


@pytest.mark.parametrize("like", RELEASES)
def test_partition_that_is_added_twice_is_answered_twice_since_3_5(like: str) -> None:
    """A topic without partitions is answered likewise."""
    topics = [
        {"name": TOPIC, "partitions": [0, 0]},
        {"name": TOPIC, "partitions": [0]},
        {"name": "none", "partitions": []},
    ]
    answer = asked(like, "AddPartitionsToTxn", 0, {
        "v3_and_below_transactional_id": "id", "v3_and_below_topics": topics,
    })  # fmt: skip
    once = (0, MAPPING)
    is_new = like in ("4.4.0", "3.9.2")
    expected = [(TOPIC, [once, once]), (TOPIC, [once]), ("none", [])] if is_new else [
        (TOPIC, [once])
    ]  # fmt: skip
    assert added(answer["results_by_topic_v3_and_below"]) == expected


@pytest.mark.parametrize("like", RELEASES)
def test_partition_beside_one_that_is_missing_is_answered_once(like: str) -> None:
    topics = [{"name": TOPIC, "partitions": [0, 0, 9]}, {"name": "none", "partitions": []}]
    answer = asked(like, "AddPartitionsToTxn", 0, {
        "v3_and_below_transactional_id": "id", "v3_and_below_topics": topics,
    })  # fmt: skip
    found = [(0, ErrorCode.OPERATION_NOT_ATTEMPTED), (9, UNKNOWN)]
    assert added(answer["results_by_topic_v3_and_below"]) == [(TOPIC, found)]


@pytest.mark.parametrize("verifies", [False, True])
def test_transactions_with_the_same_id_take_the_partitions_of_the_last(verifies: bool) -> None:
    """The topics that are answered are those of the first, unless they are only verified."""
    first, last = ({"name": TOPIC, "partitions": [0]}, {"name": "none", "partitions": []})
    transactions = [
        {"transactional_id": "id", "verify_only": verifies, "topics": [topic]}
        for topic in (first, last)
    ]
    answer = asked("4.4.0", "AddPartitionsToTxn", 5, {"transactions": transactions})
    found = [added(one["topic_results"]) for one in answer["results_by_transaction"]]
    assert found == ([[], []] if verifies else [[(TOPIC, [(0, MAPPING)])]] * 2)


@pytest.mark.parametrize("like", RELEASES)
def test_marker_is_answered_by_producer_topic_and_partition(like: str) -> None:
    """Once each; without a partition not at all."""
    topics = [{"name": TOPIC, "partition_indexes": [0]}, {"name": "none", "partition_indexes": []}]
    markers = [
        {"producer_id": producer_id, "topics": named}
        for producer_id, named in ((8, []), (7, topics), (7, topics))
    ]
    answer = asked(like, "WriteTxnMarkers", 1 if like == "4.4.0" else 0, {"markers": markers})
    once = [{"partition_index": 0, "error_code": 0}]
    assert answer["markers"] == [
        {"producer_id": 7, "topics": [{"name": TOPIC, "partitions": once}]}
    ]


@pytest.mark.parametrize("like", RELEASES)
def test_offsets_of_a_transaction_are_answered_as_those_of_a_commit(like: str) -> None:
    """A missing topic is answered since 3.5, what is missing twice as often as it is named."""
    twice = [{"partition_index": 9}, {"partition_index": 9}]
    topics = [{"name": TOPIC, "partitions": twice}, {"name": "none", "partitions": []}]
    of_both = []
    for api, version in (("TxnOffsetCommit", 0), ("OffsetCommit", 2)):
        answer = asked(like, api, version, {"group_id": "group", "topics": topics})
        of_both.append(
            [
                (topic["name"], [one["error_code"] for one in topic["partitions"]])
                for topic in answer["topics"]
            ]
        )
    expected = {
        "4.4.0": [(TOPIC, [UNKNOWN, UNKNOWN]), ("none", [])],
        "3.9.2": [(TOPIC, [UNKNOWN, UNKNOWN]), ("none", [])],
        "2.8.2": [(TOPIC, [UNKNOWN])],
    }.get(like, of_both[1])
    assert of_both == [expected, expected]


@pytest.mark.parametrize("like", RELEASES)
def test_transactional_batches_of_several_producers_refuse_the_request_since_3_6(like: str) -> None:
    """Batches of one producer are judged one by one; of a partition the last batch counts."""

    def codes(*producers: int, indexes: tuple[int, ...] = (0, 1)) -> list[int]:
        data = [
            {"index": index, "records": transactional(producer_id).hex()}
            for index, producer_id in zip(indexes, producers, strict=False)
        ]
        topics = [{"name": TOPIC, "partition_data": data}]
        fields = {"transactional_id": "id", "acks": -1, "timeout_ms": 5_000, "topic_data": topics}
        answer = asked(like, "Produce", 3, fields)
        return [one["error_code"] for one in answer["responses"][0]["partition_responses"]]

    assert (codes(7, 8) == [MAPPING, MAPPING]) is (like in ("4.4.0", "3.9.2"))
    assert codes(7, 7)[0] == codes(7)[0]
    assert codes(8, 7, indexes=(0, 0)) == codes(7)


@pytest.mark.parametrize("like", RELEASES)
def test_offsets_without_a_producer_are_committed_before_3_7(like: str) -> None:
    """They are visible at once; later releases ask the coordinator of the transaction first."""
    partition = {"partition_index": 0, "committed_offset": 5}
    fields = {"transactional_id": "id", "group_id": "group", "producer_id": -1}
    asked_with = {**fields, "topics": [{"name": TOPIC, "partitions": [partition]}]}
    with broker_like(like) as connection:
        answer = answered(connection, "TxnOffsetCommit", 0, asked_with)
        wanted = {"name": TOPIC, "partition_indexes": [0]}
        shown = answered(connection, "OffsetFetch", 1, {"group_id": "group", "topics": [wanted]})
    (stored,) = answer["topics"][0]["partitions"]
    (read,) = shown["topics"][0]["partitions"]
    is_new = like in ("4.4.0", "3.9.2")
    expected = (MAPPING, -1) if is_new else (ErrorCode.NONE, 5)
    assert (stored["error_code"], read["committed_offset"]) == expected


@pytest.mark.parametrize(
    ("epoch", "codes"),
    [(-1, {TOPIC: -1, "none": -1}), (-2, {TOPIC: FENCED, "none": UNKNOWN})],
)
@pytest.mark.parametrize("like", RELEASES)
def test_marker_of_a_producer_without_an_epoch_fails_the_whole_request(
    like: str, epoch: int, codes: dict[str, int]
) -> None:
    """An epoch below that is older than any."""
    topics = [{"name": name, "partition_indexes": [0]} for name in (TOPIC, "none")]
    marker = {"producer_id": 7, "producer_epoch": epoch, "topics": topics}
    answer = asked(like, "WriteTxnMarkers", 1 if like == "4.4.0" else 0, {"markers": [marker]})
    (found,) = answer["markers"]
    told = {topic["name"]: topic["partitions"][0]["error_code"] for topic in found["topics"]}
    assert told == codes


@pytest.mark.parametrize("like", RELEASES)
def test_offsets_of_a_producer_without_an_epoch_fail_with_missing_partitions_before_3_7(
    like: str,
) -> None:
    parts = [{"partition_index": index} for index in (0, 9)]
    fields = {"group_id": "group", "producer_id": 7, "producer_epoch": -1, "transactional_id": "id"}
    topics = [{"name": TOPIC, "partitions": parts}]
    answer = asked(like, "TxnOffsetCommit", 0, {**fields, "topics": topics})
    codes = {one["partition_index"]: one["error_code"] for one in answer["topics"][0]["partitions"]}
    assert codes == ({0: MAPPING, 9: UNKNOWN} if like in ("4.4.0", "3.9.2") else {0: -1, 9: -1})


@pytest.mark.parametrize(("like", "indexes"), [("2.8.2", [0, 0]), ("1.1.1", [0])])
def test_offsets_of_a_producer_without_an_epoch_fail_once_for_each_name_since_2_4(
    like: str, indexes: list[int]
) -> None:
    parts = [{"partition_index": 0, "committed_metadata": text} for text in ("a", "b")]
    fields = {"group_id": "group", "producer_id": 7, "producer_epoch": -1, "transactional_id": "id"}
    topics = [{"name": TOPIC, "partitions": parts}]
    answer = asked(like, "TxnOffsetCommit", 0, {**fields, "topics": topics})
    (topic,) = answer["topics"]
    failed = [(one["partition_index"], one["error_code"]) for one in topic["partitions"]]
    assert failed == [(index, -1) for index in indexes]


@pytest.mark.parametrize("like", ["4.4.0", "3.9.2"])
def test_unknown_state_that_is_named_twice_is_answered_once(like: str) -> None:
    answer = asked(like, "ListTransactions", 0, {"state_filters": ["none", "Empty", "none"]})
    assert answer["unknown_state_filters"] == ["none"]


@pytest.mark.parametrize("like", ["2.8.2", "1.1.1"])
def test_before_2_4_a_read_at_the_last_stable_offset_goes_on_to_the_end(like: str) -> None:
    """It lists an abort behind an open transaction, and refuses a limit below 0."""
    data = {"index": 0, "records": transactional(7).hex()}
    topics = [{"name": TOPIC, "partition_data": [data]}]
    produced = {"transactional_id": "id", "acks": -1, "timeout_ms": 5_000, "topic_data": topics}
    of_another = {"producer_id": 8, "topics": [{"name": TOPIC, "partition_indexes": [0]}]}

    def read(connection: Connection, limit: int) -> tuple[int, list[int]]:
        wanted = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": limit}
        asked_for = [{"topic": TOPIC, "partitions": [wanted]}]
        fields = {"replica_id": -1, "max_bytes": 1000, "isolation_level": 1, "topics": asked_for}
        answer = answered(connection, "Fetch", 4, {**fields, "max_wait_ms": 0, "min_bytes": 0})
        (found,) = answer["responses"][0]["partitions"]
        listed = found["aborted_transactions"] or ()
        return found["error_code"], [one["first_offset"] for one in listed]

    with broker_like(like) as connection:
        answered(connection, "Produce", 3, produced)
        answered(connection, "WriteTxnMarkers", 0, {"markers": [of_another]})
        found = [read(connection, limit) for limit in (1000, -1)]
    assert found == ([(0, []), (0, [])] if like == "2.8.2" else [(0, [1]), (-1, [])])


def test_up_to_2_3_deleted_records_take_the_open_transaction_with_them() -> None:
    """Its marker ends another one (class ProducerStateManager, truncateHead)."""
    data = {"index": 0, "records": transactional(7).hex()}
    topics = [{"name": TOPIC, "partition_data": [data]}]
    produced = {"transactional_id": "id", "acks": -1, "timeout_ms": 5_000, "topic_data": topics}
    deleted = {"name": TOPIC, "partitions": [{"partition_index": 0, "offset": 1}]}
    marker = {"producer_id": 7, "topics": [{"name": TOPIC, "partition_indexes": [0]}]}
    wanted = {"partition": 0, "fetch_offset": 1, "partition_max_bytes": 1000}
    limits = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1000}
    fetched = {
        **limits, "isolation_level": 1, "topics": [{"topic": TOPIC, "partitions": [wanted]}],
    }  # fmt: skip
    with broker_like("1.1.1") as connection:
        answered(connection, "Produce", 3, produced)
        answered(connection, "DeleteRecords", 0, {"topics": [deleted], "timeout_ms": 5_000})
        answered(connection, "WriteTxnMarkers", 0, {"markers": [marker]})
        answer = answered(connection, "Fetch", 4, fetched)
    (found,) = answer["responses"][0]["partitions"]
    assert [one["first_offset"] for one in found["aborted_transactions"]] == [1]


@pytest.mark.parametrize(("version", "code"), [(-1, -1), (3, 0)])
def test_marker_with_a_transaction_version_below_0_fails_in_its_partition(
    version: int, code: int
) -> None:
    """A version that is not known yet is none of the broker's concern."""
    topics = [{"name": name, "partition_indexes": [0]} for name in (TOPIC, "none")]
    marker = {"producer_id": 7, "topics": topics, "transaction_version": version}
    answer = asked("4.4.0", "WriteTxnMarkers", 2, {"markers": [marker]})
    (found,) = answer["markers"]
    told = {topic["name"]: topic["partitions"][0]["error_code"] for topic in found["topics"]}
    assert told == {TOPIC: code, "none": UNKNOWN}

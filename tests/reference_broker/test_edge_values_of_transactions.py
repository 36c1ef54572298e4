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
    """Also a partition without such a batch; of one producer the batches are judged one by one."""

    def codes(*producers: int) -> list[int]:
        data = [
            {"index": index, "records": transactional(producer_id).hex()}
            for index, producer_id in enumerate(producers)
        ]
        topics = [{"name": TOPIC, "partition_data": data}]
        fields = {"transactional_id": "id", "acks": -1, "timeout_ms": 5_000, "topic_data": topics}
        answer = asked(like, "Produce", 3, fields)
        return [one["error_code"] for one in answer["responses"][0]["partition_responses"]]

    assert (codes(7, 8) == [MAPPING, MAPPING]) is (like in ("4.4.0", "3.9.2"))
    assert codes(7, 7)[0] == codes(7)[0]


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


@pytest.mark.parametrize("like", RELEASES)
def test_marker_of_a_producer_without_an_epoch_fails_the_whole_request(like: str) -> None:
    topics = [{"name": name, "partition_indexes": [0]} for name in (TOPIC, "none")]
    marker = {"producer_id": 7, "producer_epoch": -1, "topics": topics}
    answer = asked(like, "WriteTxnMarkers", 1 if like == "4.4.0" else 0, {"markers": [marker]})
    (found,) = answer["markers"]
    codes = {topic["name"]: topic["partitions"][0]["error_code"] for topic in found["topics"]}
    assert codes == {TOPIC: -1, "none": -1}


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


@pytest.mark.parametrize("like", ["4.4.0", "3.9.2"])
def test_unknown_state_that_is_named_twice_is_answered_once(like: str) -> None:
    answer = asked(like, "ListTransactions", 0, {"state_filters": ["none", "Empty", "none"]})
    assert answer["unknown_state_filters"] == ["none"]

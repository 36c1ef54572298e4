"""`talk produce` and `talk consume`: records by lines, and as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from harness.commands.talk.produce import MOST_RECORDS
from harness.historical.partitioners import partition_by_murmur2
from tests.reference_broker.running import create_topic
from tests.talk.talking import Address, Talking, as_lines

FORMS: list[dict[str, Any]] = [
    {"key": None, "value": None, "headers": []},
    {"key": "", "value": "", "headers": [["", ""]]},
    {"key": "ключ", "value": {"hex": "00ff"}, "headers": [["h", None], ["h", {"hex": "fe"}]]},
]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_are_read_as_they_were_written(talk: Talking, topic: str, codec: str) -> None:
    given = [{**form, "timestamp": at, "partition": 1} for at, form in enumerate(FORMS)]
    assert talk.produce("--codec", codec, "--json", topic, given=as_lines(given)) == [
        {"topic": topic, "partition": 1, "records": 3, "base_offset": 0}
    ]
    beside = {"topic": topic, "timestamp_type": "CreateTime"}
    expected = [{**one, **beside, "offset": at} for at, one in enumerate(given)]
    found = talk.consume(topic)
    assert found == expected
    talk.produce("--json", "--partition", "2", topic, given=as_lines(found))
    assert talk.consume("--partition", "2", topic) == [{**one, "partition": 2} for one in expected]


def test_line_is_the_value_and_the_key_stands_before_the_separator(
    talk: Talking, topic: str
) -> None:
    words = ("--key-separator", ":", "--partition", "0", topic)
    talk.produce(*words, given=b"k:v:w\n:empty key\nno key\n\n\xff")
    assert [(one["key"], one["value"]) for one in talk.consume(topic)] == [
        ("k", "v:w"),
        ("", "empty key"),
        (None, "no key"),
        (None, ""),
        (None, {"hex": "ff"}),
    ]


def test_key_chooses_the_partition_as_in_java_and_records_without_key_go_in_turn(
    talk: Talking, topic: str
) -> None:
    keys = [f"key {number}" for number in range(20)]
    talk.produce("--json", topic, given=as_lines({"key": key} for key in keys))
    assert {one["key"]: one["partition"] for one in talk.consume(topic)} == {
        key: partition_by_murmur2(key.encode(), 3) for key in keys
    }
    written = talk.produce(topic, given="a\nb\nc\nd\n")
    assert {one["partition"]: one["records"] for one in written} == {0: 2, 1: 1, 2: 1}


def test_many_records_become_several_batches(talk: Talking, topic: str) -> None:
    lines = "".join(f"{number}\n" for number in range(MOST_RECORDS + 1))
    written = talk.produce("--partition", "0", topic, given=lines)
    assert [(one["base_offset"], one["records"]) for one in written] == [
        (0, MOST_RECORDS),
        (MOST_RECORDS, 1),
    ]
    assert "".join(one["value"] + "\n" for one in talk.consume(topic)) == lines


def test_acks_0_writes_without_an_answer(talk: Talking, topic: str) -> None:
    words = ("--acks", "0", "--partition", "0", topic)
    assert talk.produce(*words, given="a\n") == [{"topic": topic, "partition": 0, "records": 1}]
    # The answer to another request shows that the broker has read everything before it.
    talk.produce("--partition", "0", topic, given="b\n")
    assert {one["value"] for one in talk.consume(topic)} == {"a", "b"}


def test_consume_begins_where_it_is_told_and_ends_at_the_count(talk: Talking, topic: str) -> None:
    given = [{"value": str(at), "timestamp": 100 + at, "partition": 0} for at in range(5)]
    talk.produce("--json", topic, given=as_lines(given))

    def values(*words: str) -> list[str]:
        return [one["value"] for one in talk.consume("--partition", "0", *words, topic)]

    assert values("--from", "3") == ["3", "4"]
    assert values("--from", "5") == []
    assert values("--from", "@102", "--count", "2") == ["2", "3"]
    assert values("--from", "@105") == []
    assert values("--from", "latest") == []
    ended = talk.invoke("consume", "--partition", "0", "--from", "6", topic)
    assert (ended.exit_code, f"{topic}-0 ends at 5, before 6" in ended.stderr) == (1, True)


def test_consume_follows_until_the_count(talk: Talking, topic: str) -> None:
    talk.produce("--partition", "0", topic, given="a\nb\n")
    words = ("--follow", "--from", "1", "--count", "1", "--partition", "0", topic)
    assert [one["value"] for one in talk.consume(*words)] == ["b"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: "),
        ("[]", "line 2: a record is a JSON object"),
        ('{"valu": ""}', "line 2: unknown field 'valu'"),
        ('{"value": 1}', 'line 2: value is text, null or {"hex": "00ff"}, not 1'),
        ('{"key": {"hex": "0"}}', "line 2: key: no hex digits: '0'"),
        ('{"headers": [["h"]]}', "line 2: headers are a list of pairs"),
        ('{"partition": "0"}', "line 2: partition is an integer, not '0'"),
    ],
)
def test_line_that_is_no_record_exits_2_with_its_number(
    talk: Talking, topic: str, line: str, said: str
) -> None:
    ended = talk.invoke("produce", "--json", topic, given='{"value": "a"}\n' + line)
    assert (ended.exit_code, said in ended.stderr) == (2, True), ended.stderr


@pytest.mark.parametrize("verb", ["produce", "consume"])
def test_unknown_topic_or_partition_exits_1(talk: Talking, topic: str, verb: str) -> None:
    ended = talk.invoke(verb, "unknown", given="a\n")
    assert (ended.exit_code, "topic 'unknown': UNKNOWN_TOPIC" in ended.stderr) == (1, True)
    ended = talk.invoke(verb, "--partition", "3", topic, given="a\n")
    assert (ended.exit_code, f"{topic} has no partition 3" in ended.stderr) == (1, True)


def test_refused_batch_exits_1_with_its_error(
    talk: Talking, address: Address, request: pytest.FixtureRequest
) -> None:
    create_topic(address, request.node.name, max_message_bytes="100")
    ended = talk.invoke("produce", request.node.name, given="x" * 200)
    assert (ended.exit_code, "MESSAGE_TOO_LARGE" in ended.stderr) == (1, True), ended.stderr

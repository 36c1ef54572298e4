"""LEG: the documents of brokers and consumers in ZooKeeper."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from harness.conformance.checks import requirement
from harness.historical.zookeeper_paths import Znode, znode_at
from harness.historical.zookeeper_registry import (
    ConsumerNode,
    RegisteredBroker,
    RegisteredPartition,
    decode_broker,
    decode_consumer,
    decode_offset,
    decode_state,
    decode_topic,
    encode_broker,
    encode_consumer,
    encode_offset,
    encode_state,
    encode_topic,
)
from harness.runner.marks import judges, offline


class Sample(NamedTuple):
    """A text as in ZooKeeper, and its decoded value."""

    text: str
    says: object
    decode: Callable[[str], Any]
    encode: Callable[[Any], str]


def _broker(text: str, says: RegisteredBroker) -> Sample:
    return Sample(text, says, decode_broker, encode_broker)


def _consumer(text: str, says: ConsumerNode) -> Sample:
    return Sample(text, says, decode_consumer, encode_consumer)


TIME = "1448000000000"
SAMPLES = {
    "broker of 0.7 by document": _broker(
        "k1.example:9092", RegisteredBroker("k1.example", 9092, version=0)
    ),
    "broker of 0.7 by its class": _broker(
        "k1-1330000000000:k1.example:9092",
        RegisteredBroker("k1.example", 9092, version=0, creator="k1-1330000000000"),
    ),
    "broker of 0.8": _broker(
        f'{{"jmx_port":-1,"timestamp":"{TIME}","host":"k1","version":1,"port":9092}}',
        RegisteredBroker("k1", 9092, timestamp=TIME),
    ),
    "broker of 0.9": _broker(
        f'{{"jmx_port":9999,"timestamp":"{TIME}","endpoints":["PLAINTEXT://k1:9092"],'
        '"host":"k1","version":2,"port":9092}',
        RegisteredBroker("k1", 9092, 2, None, 9999, TIME, ("PLAINTEXT://k1:9092",)),
    ),
    "topic": Sample(
        '{"version":1,"partitions":{"0":[2,1],"1":[1,2]}}',
        {0: (2, 1), 1: (1, 2)},
        decode_topic,
        encode_topic,
    ),
    "partitions of a broker of 0.7": Sample("4", 4, decode_offset, encode_offset),
    "state": Sample(
        '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":7,"isr":[2,1]}',
        RegisteredPartition(2, (2, 1), 7, 3),
        decode_state,
        encode_state,
    ),
    "consumer of 0.7": _consumer(
        '{ "a": 2,"b": 1 }', ConsumerNode({"a": 2, "b": 1}, version=0, pattern="static")
    ),
    "whitelist of 0.7": _consumer("*4*white.*", ConsumerNode({"white.*": 4}, 0, "white_list")),
    "blacklist of 0.7": _consumer("!4!black.*", ConsumerNode({"black.*": 4}, 0, "black_list")),
    "consumer of 0.8": _consumer(
        f'{{"version":1,"subscription":{{"white.*":2}},"pattern":"white_list","timestamp":"{TIME}"}}',
        ConsumerNode({"white.*": 2}, 1, "white_list", TIME),
    ),
    "offset": Sample("9223372036854775807", 2**63 - 1, decode_offset, encode_offset),
}
PATHS: dict[str, tuple[Znode, dict[str, str]]] = {
    "/brokers/ids/3": (Znode.BROKER, {"broker": "3"}),
    "/brokers/topics/a-b.c": (Znode.TOPIC, {"topic": "a-b.c"}),
    "/brokers/topics/a/3": (Znode.BROKER_TOPIC, {"topic": "a", "broker": "3"}),
    "/brokers/topics/a/partitions/12/state": (
        Znode.PARTITION_STATE,
        {"topic": "a", "partition": "12"},
    ),
    "/consumers/g/ids/host:1": (Znode.CONSUMER, {"group": "g", "consumer": "host:1"}),
    "/consumers/g/offsets/a/0-12": (
        Znode.OFFSET,
        {"group": "g", "topic": "a", "partition": "0-12"},
    ),
    "/consumers/g/owners/a/12": (Znode.OWNER, {"group": "g", "topic": "a", "partition": "12"}),
}
NONE_OF_THESE = ("/brokers/ids", "/brokers/ids/x", "/brokers/topics/a/partitions", "/consumers/g")


def _same_text(left: str, right: str) -> bool:
    """Blanks and the order of fields in JSON say nothing."""
    if not right.startswith("{"):
        return left == right
    return bool(json.loads(left) == json.loads(right))


@offline()
@judges("LEG-009")
@pytest.mark.parametrize("told", SAMPLES)
def test_zookeeper_document_is_decoded_and_encoded(told: str) -> None:
    sample = SAMPLES[told]
    with requirement("LEG-009"):
        found = sample.decode(sample.text)
        assert found == sample.says, f"{told}: {sample.text} is read as {found}"
        text = sample.encode(sample.says)
        assert _same_text(text, sample.text), f"{told}: written as {text}, not {sample.text}"


@offline()
@judges("LEG-009")
def test_zookeeper_path_is_mapped_to_document_type_and_back() -> None:
    with requirement("LEG-009"):
        for path, (znode, names) in PATHS.items():
            found = znode_at(path)
            assert found == (znode, names), f"{path} is {found}"
            made = znode.path(**names)
            assert made == path, f"{znode.name} of {names} is {made}, not {path}"
        for path in NONE_OF_THESE:
            assert znode_at(path) is None, f"{path} is no document"

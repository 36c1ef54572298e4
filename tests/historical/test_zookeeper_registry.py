"""Documents in ZooKeeper: what is written is read, what is none of them is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.historical.json_fields import RegistryError
from harness.historical.zookeeper_paths import Znode
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
    encode_state,
    encode_topic,
)
from labs.message_values.values import QUICK

NUMBERS = st.integers(0, 2**31 - 1)
TEXTS = st.text(max_size=12)
HOSTS = st.from_regex(r"[a-z0-9.-]{1,12}", fullmatch=True)
CREATORS = st.none() | st.from_regex(r"[a-z0-9.-]*", fullmatch=True)
BROKERS_0_7 = st.tuples(HOSTS, NUMBERS, CREATORS).map(
    lambda parts: RegisteredBroker(parts[0], parts[1], 0, parts[2])
)
BROKERS = st.builds(
    RegisteredBroker, HOSTS, NUMBERS, st.just(4), st.none(), NUMBERS, TEXTS,
    st.lists(TEXTS).map(tuple), st.none() | TEXTS, st.dictionaries(TEXTS, TEXTS),
)  # fmt: skip
STATES = st.builds(
    RegisteredPartition, st.integers(-1, 2**31 - 1), st.lists(NUMBERS).map(tuple), NUMBERS, NUMBERS,
    st.just(1),
)  # fmt: skip
CONSUMERS = st.builds(
    ConsumerNode, st.dictionaries(TEXTS, NUMBERS), st.just(1),
    st.sampled_from(["static", "white_list", "black_list"]), TEXTS,
)  # fmt: skip
PATTERNS_0_7 = st.sampled_from(["white_list", "black_list"])
FILTERS_0_7 = st.tuples(TEXTS, NUMBERS, PATTERNS_0_7).map(
    lambda parts: ConsumerNode({parts[0]: parts[1]}, 0, parts[2])
)


@QUICK
@given(BROKERS_0_7 | BROKERS, STATES, CONSUMERS | FILTERS_0_7)
def test_broker_state_and_consumer_nodes_round_trip(
    broker: RegisteredBroker, state: RegisteredPartition, consumer: ConsumerNode
) -> None:
    assert decode_broker(encode_broker(broker)) == broker
    assert decode_state(encode_state(state)) == state
    assert decode_consumer(encode_consumer(consumer)) == consumer


@QUICK
@given(st.dictionaries(NUMBERS, st.lists(NUMBERS).map(tuple)))
def test_topic_node_round_trips(partitions: dict[int, tuple[int, ...]]) -> None:
    assert decode_topic(encode_topic(partitions)) == partitions


@pytest.mark.parametrize(
    ("decode", "text", "problem"),
    [
        (decode_broker, "host", "'host' is not host:port"),
        (decode_broker, "a:b:c:1", "is not host:port"),
        (decode_broker, "{", "is no JSON"),
        (decode_broker, '{"host":"h","port":"1","version":1}', "port is '1'"),
        (decode_broker, '{"host":"h","port":true,"version":1}', "port is True"),
        (decode_broker, '{"host":"h","port":1,"version":1,"jmx_port":1}', "timestamp is missing"),
        (decode_topic, '{"version":2,"partitions":{}}', "version 2, there is 1 alone"),
        (decode_topic, '{"version":1,"partitions":{"x":[]}}', "'x' is no number"),
        (decode_topic, '{"version":1,"partitions":{"0":[]},"more":0}', "more is not known"),
        (decode_topic, "[]", "is no object"),
        (decode_state, '{"version":1,"leader":0,"isr":[null]}', "isr is None"),
        (decode_consumer, '{"a":"2"}', "a is '2'"),
        (decode_consumer, '{"version":1,"subscription":{},"pattern":"all"}', "pattern 'all'"),
        (decode_offset, "-1", "'-1' is no number"),
        (decode_offset, "٣", "is no number"),
    ],
)  # fmt: skip
def test_malformed_node_raises_registry_error(
    decode: Callable[[str], object], text: str, problem: str
) -> None:
    with pytest.raises(RegistryError, match=problem):
        decode(text)


def test_consumer_node_of_0_7_accepts_topic_named_version() -> None:
    assert decode_consumer('{"version":2}') == ConsumerNode({"version": 2}, 0)


def test_znode_path_refuses_name_with_slash() -> None:
    with pytest.raises(ValueError, match="topic 'a/b' cannot stand in a path"):
        Znode.TOPIC.path(topic="a/b")

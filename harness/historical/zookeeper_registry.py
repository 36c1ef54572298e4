"""The documents in the nodes of ``zookeeper_paths``, as values and as text.

In 0.7 they are short texts, since 0.8 JSON objects with a version; 0.9 added the endpoints of a
broker, 0.10.0 its rack, 0.10.2 how listeners are protected (ZkUtils.registerBrokerInZk). A field
that is not of the version is refused. The document of 0.7 says ``host:port`` for a broker, its
class Broker wrote a creator's id in front; both are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.historical.json_fields import Fields, RegistryError

_TEXT_VERSION = 0  # ours, for what has no version: the texts of 0.7
_BROKER_0_7 = re.compile(r"(?:(?P<creator>[^:]*):)?(?P<host>[^:]+):(?P<port>\d+)")
_FILTER_0_7 = re.compile(r"(?P<mark>[*!])(?P<streams>\d+)(?P=mark)(?P<regex>.*)", re.DOTALL)
_FILTER_MARKS = {"*": "white_list", "!": "black_list"}
_PROTOCOLS = "listener_security_protocol_map"
_PATTERNS = ("static", *_FILTER_MARKS.values())


class RegisteredBroker(NamedTuple):
    """``version`` 0 is the text of 0.7, with ``creator`` or, by the document, without."""

    host: str
    port: int
    version: int = 1
    creator: str | None = None
    jmx_port: int = -1
    timestamp: str = ""
    endpoints: Sequence[str] = ()
    rack: str | None = None
    listener_security_protocols: Mapping[str, str] = {}


class RegisteredPartition(NamedTuple):
    """The leader and ISR of a partition; ``leader`` is -1 if there is none."""

    leader: int
    isr: Sequence[int]
    leader_epoch: int
    controller_epoch: int
    version: int = 1


class ConsumerNode(NamedTuple):
    """``subscription``: topic, or regular expression for another ``pattern``, to streams."""

    subscription: Mapping[str, int]
    version: int = 1
    pattern: str = "static"
    timestamp: str = ""


def decode_broker(text: str) -> RegisteredBroker:
    """Raises RegistryError, like all of them."""
    if not text.lstrip().startswith("{"):
        match = _BROKER_0_7.fullmatch(text)
        if match is None:
            raise RegistryError(f"broker: {text!r} is not host:port")
        return RegisteredBroker(match["host"], int(match["port"]), _TEXT_VERSION, match["creator"])
    fields = Fields("broker", text)
    version = fields.number("version")
    node = RegisteredBroker(
        host=fields.text("host"),
        port=fields.number("port"),
        version=version,
        jmx_port=fields.number("jmx_port"),
        timestamp=fields.text("timestamp"),
        endpoints=fields.texts("endpoints") if version >= 2 else (),
        rack=fields.optional_text("rack") if version >= 3 else None,
        listener_security_protocols=fields.texts_in(_PROTOCOLS) if version >= 4 else {},
    )
    fields.end()
    return node


def encode_broker(node: RegisteredBroker) -> str:
    """The text that :func:`decode_broker` reads."""
    if node.version == _TEXT_VERSION:
        place = f"{node.host}:{node.port}"
        return place if node.creator is None else f"{node.creator}:{place}"
    values: dict[str, Any] = {"jmx_port": node.jmx_port, "timestamp": node.timestamp}
    if node.version >= 2:
        values["endpoints"] = list(node.endpoints)
    values |= {"host": node.host, "version": node.version, "port": node.port}
    if node.rack is not None:
        values["rack"] = node.rack
    if node.version >= 4:
        values[_PROTOCOLS] = dict(node.listener_security_protocols)
    return _json(values)


def decode_topic(text: str) -> dict[int, tuple[int, ...]]:
    """Partition -> its replicas, the preferred leader first; since 0.8."""
    fields = Fields("topic", text)
    fields.expect_version(1)
    found = fields.mapping("partitions")
    fields.end()
    return {_number(key): fields.numbers_of("partitions", found[key]) for key in found}


def encode_topic(partitions: Mapping[int, Sequence[int]]) -> str:
    """The text that :func:`decode_topic` reads."""
    named = {str(partition): list(replicas) for partition, replicas in partitions.items()}
    return _json({"version": 1, "partitions": named})


def decode_state(text: str) -> RegisteredPartition:
    """Of ``/brokers/topics/TOPIC/partitions/N/state``."""
    fields = Fields("state", text)
    fields.expect_version(1)
    state = RegisteredPartition(
        leader=fields.number("leader"),
        isr=fields.numbers_of("isr", fields.take("isr")),
        leader_epoch=fields.number("leader_epoch"),
        controller_epoch=fields.number("controller_epoch"),
    )
    fields.end()
    return state


def encode_state(state: RegisteredPartition) -> str:
    """The text that :func:`decode_state` reads."""
    return _json({**state._asdict(), "isr": list(state.isr)})


def decode_consumer(text: str) -> ConsumerNode:
    """``{"topic": 2}``, ``*2*regex`` and ``!2!regex`` are those of 0.7."""
    match = _FILTER_0_7.fullmatch(text)
    if match is not None:
        streams = {match["regex"]: int(match["streams"])}
        return ConsumerNode(streams, _TEXT_VERSION, _FILTER_MARKS[match["mark"]])
    fields = Fields("consumer", text)
    if not fields.has("subscription", "version"):
        return ConsumerNode(fields.rest_as_numbers(), _TEXT_VERSION)
    fields.expect_version(1)
    pattern = fields.text("pattern")
    if pattern not in _PATTERNS:
        raise RegistryError(f"consumer: pattern {pattern!r} is none of {', '.join(_PATTERNS)}")
    streams = fields.numbers_in("subscription")
    node = ConsumerNode(streams, 1, pattern, fields.text("timestamp"))
    fields.end()
    return node


def encode_consumer(node: ConsumerNode) -> str:
    """The text that :func:`decode_consumer` reads."""
    if node.version == _TEXT_VERSION:
        marks = {pattern: mark for mark, pattern in _FILTER_MARKS.items()}
        if node.pattern not in marks:
            return _json(dict(node.subscription))
        mark = marks[node.pattern]
        ((regex, streams),) = node.subscription.items()
        return f"{mark}{streams}{mark}{regex}"
    return _json({**node._asdict(), "subscription": dict(node.subscription)})


def decode_offset(text: str) -> int:
    """Of a partition's offset node: decimal digits. So is what a broker of 0.7 has of a topic."""
    return _number(text)


def encode_offset(offset: int) -> str:
    """The text that :func:`decode_offset` reads."""
    return str(offset)


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"))


def _number(text: str) -> int:
    if not re.fullmatch(r"\d+", text, re.ASCII):
        raise RegistryError(f"{text!r} is no number")
    return int(text)

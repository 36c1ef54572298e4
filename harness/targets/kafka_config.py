"""The configuration of a single Kafka node that is broker and controller (KRaft), as text."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from pathlib import Path

HOST = "127.0.0.1"
NODE_ID = 1

SMALL_NODE = {
    "num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "1",
    "num.io.threads": "2",
    "background.threads": "1",
    # The default of 128 MiB does not fit into the small heap.
    "log.cleaner.dedupe.buffer.size": "2097152",
}
"""Kafka's defaults, except what makes one node with a small heap possible and quick."""

LOG4J2 = """\
status = error
appenders = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d{ISO8601_OFFSET_DATE_TIME_HHCMM}] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
loggers = configs
logger.configs.name = org.apache.kafka.common.config
logger.configs.level = WARN
"""
"""log4j2.properties: everything from INFO up to stdout, which is the log file."""


def cluster_id() -> str:
    """A fresh cluster id: 22 characters of URL-safe base64, not starting with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def server_properties(
    data_dir: Path, broker_port: int, controller_port: int, settings: Mapping[str, str]
) -> str:
    """server.properties; ``settings`` by Kafka's names win over everything here."""
    listener = f"PLAINTEXT://{HOST}:{broker_port}"
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "controller.quorum.voters": f"{NODE_ID}@{HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{listener},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": listener,
        "log.dirs": str(data_dir / "log"),
        **SMALL_NODE,
        **settings,
    }
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in properties.items())


def _escape(text: str) -> str:
    r"""A word of a Java properties file: backslash and newline would end it early."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")

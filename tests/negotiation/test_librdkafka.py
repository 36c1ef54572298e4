"""The real librdkafka sends the versions in its file, and has the features in it."""

import logging
import re
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from harness.negotiation.client_file import ClientFile, find_client
from harness.negotiation.negotiate import Negotiation, negotiate
from harness.targets.info import TargetInfo, probe
from harness.targets.spec import parse_target
from labs.hang_limit import HANGS_AFTER_S
from tests.targets import kinds

ADMIN: Any = confluent_kafka.admin  # its stubs export little
CLIENT = f"librdkafka-{confluent_kafka.libversion()[0]}"
TOPIC, GROUP = "negotiated", "negotiators"
SENT = re.compile(r"Sent (?P<api>\w+?)Request \(v(?P<version>\d+),")
ENABLED = re.compile(r"Enabling feature (?P<name>\w+)")
TIMEOUT_S = HANGS_AFTER_S
NAMES = {
    "ApiVersion": "ApiVersions",
    "IncrementalAlterConfigsRequest": "IncrementalAlterConfigs",
}
"""Names in the library's log that differ from the protocol's."""
NOT_A_FLAG = {"ConsumerProtocol", "Transactions"}  # settings: group.protocol, transactional.id
DONE = {
    "ApiVersions", "Metadata", "Produce", "Fetch", "ListOffsets", "FindCoordinator", "JoinGroup",
    "SyncGroup", "OffsetCommit", "OffsetFetch", "LeaveGroup", "InitProducerId", "CreateTopics",
    "CreatePartitions", "DeleteRecords", "DescribeConfigs", "IncrementalAlterConfigs",
    "ListGroups", "DescribeGroups", "DeleteGroups", "DeleteTopics",
}  # fmt: skip


class Log(logging.Handler):
    """The library's log: versions sent, features enabled."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[str, set[int]] = {}
        self.features: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        for match in SENT.finditer(text):
            name = NAMES.get(match["api"], match["api"])
            self.sent.setdefault(name, set()).add(int(match["version"]))
        self.features |= {match["name"] for match in ENABLED.finditer(text)}


@pytest.fixture(scope="module")
def client() -> ClientFile:
    return find_client(CLIENT)


def listen(log: Log) -> logging.Logger:
    logger = logging.Logger("librdkafka", logging.DEBUG)
    logger.addHandler(log)
    return logger


def settings_for(info: TargetInfo) -> dict[str, Any]:
    return {"bootstrap.servers": str(info.addresses[0]), "debug": "protocol,feature"}


def do_everything(settings: Mapping[str, Any], logger: logging.Logger) -> None:
    admin = ADMIN.AdminClient(dict(settings), logger=logger)
    done(admin.create_topics([ADMIN.NewTopic(TOPIC, 1, 1)]))
    produce(settings, logger)
    consume(settings, logger)
    done(admin.create_partitions([ADMIN.NewPartitions(TOPIC, 2)]))
    done(admin.delete_records([TopicPartition(TOPIC, 0, 1)]))
    resource = ADMIN.ConfigResource(ADMIN.ConfigResource.Type.TOPIC, TOPIC)
    done(admin.describe_configs([resource]))
    entry = ADMIN.ConfigEntry(
        "retention.ms", "1000", incremental_operation=ADMIN.AlterConfigOpType.SET
    )
    done(admin.incremental_alter_configs(
        [ADMIN.ConfigResource(ADMIN.ConfigResource.Type.TOPIC, TOPIC, incremental_configs=[entry])]
    ))  # fmt: skip
    admin.list_consumer_groups().result(TIMEOUT_S)
    done(admin.describe_consumer_groups([GROUP]))
    done(admin.delete_consumer_groups([GROUP]))
    done(admin.delete_topics([TOPIC]))
    admin.poll(0)


def done(futures: Mapping[Any, "Future[Any]"]) -> None:
    for future in futures.values():
        future.result(TIMEOUT_S)


def produce(settings: Mapping[str, Any], logger: logging.Logger) -> None:
    producer = Producer({**settings, "enable.idempotence": True}, logger=logger)
    producer.produce(TOPIC, b"one", partition=0)
    assert producer.flush(TIMEOUT_S) == 0
    producer.poll(0)


def consume(settings: Mapping[str, Any], logger: logging.Logger) -> None:
    group = {"group.id": GROUP, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, **group, "enable.auto.commit": False}, logger=logger)
    try:
        consumer.subscribe([TOPIC])
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        assert message.error() is None
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()


def test_installed_librdkafka_matches_client_file(client: ClientFile) -> None:
    assert client.name == CLIENT


@pytest.mark.kafka
@pytest.mark.rotates(20)
def test_librdkafka_sends_negotiated_versions_to_kafka(client: ClientFile, tmp_path: Path) -> None:
    kinds.need_kafka()
    log = Log()
    with parse_target(f"kafka:{kinds.KAFKA}", log_dir=tmp_path) as target:
        info = probe(target)
        do_everything(settings_for(info), listen(log))
    predicted = negotiate(client, info.api_versions, {})
    expected = {row.api: row.version for row in predicted.agreed}
    assert log.sent.keys() >= DONE
    wrong = {
        api: (versions, expected.get(api))
        for api, versions in log.sent.items()
        if versions != {expected.get(api)}
    }
    assert not wrong
    assert log.features == kept(predicted)


def test_librdkafka_loses_predicted_features_at_built_in_broker(
    client: ClientFile, tmp_path: Path
) -> None:
    kinds.need_reference()
    log = Log()
    with parse_target("reference", log_dir=tmp_path) as target:
        info = probe(target)
        admin = ADMIN.AdminClient(settings_for(info), logger=listen(log))
        admin.list_topics(timeout=TIMEOUT_S)
        admin.poll(0)
    predicted = negotiate(client, info.api_versions, {})
    assert predicted.lost
    assert log.features == kept(predicted)


def kept(predicted: Negotiation) -> set[str]:
    return {state.name for state in predicted.features if state.kept} - NOT_A_FLAG

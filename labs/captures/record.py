"""Record the captures of this folder again: ``python -m labs.captures.record [NAME ...]``.

Needs root, tcpdump and a Java. Each starts a private Apache Kafka on loopback; only its port is
recorded.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import confluent_kafka
import kafka
import kafka.admin
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.codec.versions import VersionRange
from harness.sweep.walk import steps, sweep
from harness.targets.info import probe
from harness.targets.spec import parse_target
from harness.targets.target import Target

CAPTURES = Path(__file__).parent / "files"
TIMEOUT_S = 20
RECORDS = 3


def python_clients(target: Target) -> None:
    """kafka-python: a topic, producers with acks all, 1 and 0, a group, an unknown topic."""
    servers = str(target.addresses[0])
    admin = kafka.KafkaAdminClient(bootstrap_servers=servers, client_id="admin-1")
    admin.create_topics([kafka.admin.NewTopic("orders", 2, 1)])
    admin.create_topics([kafka.admin.NewTopic("payments", 1, 1)])
    admin.close()
    for acks, codec in (("all", "gzip"), (1, None), (0, None)):
        producer = kafka.KafkaProducer(
            bootstrap_servers=servers,
            client_id=f"producer-{acks}",
            acks=acks,
            enable_idempotence=False,
            compression_type=codec,
        )
        for number in range(RECORDS):
            producer.send("orders", b"value %d" % number, b"key", partition=number % 2)
            producer.flush(TIMEOUT_S)
        producer.close(TIMEOUT_S)
    consumer = kafka.KafkaConsumer(
        "orders",
        bootstrap_servers=servers,
        client_id="consumer-1",
        group_id="billing",
        auto_offset_reset="earliest",
        consumer_timeout_ms=2000,
    )
    seen = sum(1 for _, _ in zip(range(3 * RECORDS), consumer, strict=False))
    consumer.commit()
    consumer.close()
    assert seen >= 2 * RECORDS, f"only {seen} records came back"
    asker = kafka.KafkaAdminClient(bootstrap_servers=servers, client_id="admin-2")
    try:
        asker.delete_topics(["never-made"])
    except kafka.errors.UnknownTopicOrPartitionError:
        pass
    else:
        raise AssertionError("an unknown topic was deleted")
    finally:
        asker.close()


def librdkafka(target: Target) -> None:
    """confluent-kafka: a transaction, several requests in flight, a group of the new protocol."""
    servers = {"bootstrap.servers": str(target.addresses[0])}
    admin = AdminClient({**servers, "client.id": "admin-3"})
    topic = NewTopic("parcels", 1, 1)
    admin.create_topics([topic])["parcels"].result(TIMEOUT_S)
    producer = confluent_kafka.Producer(
        {**servers, "client.id": "producer-2", "transactional.id": "tx-1", "linger.ms": 0,
         "compression.type": "lz4"}
    )  # fmt: skip
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    for number in range(RECORDS):
        producer.produce("parcels", b"value %d" % number, b"key", 0)
        producer.poll(0)
    producer.commit_transaction(TIMEOUT_S)
    consumer = confluent_kafka.Consumer(
        {**servers, "client.id": "consumer-2", "group.id": "couriers", "group.protocol": "consumer",
         "auto.offset.reset": "earliest"}
    )  # fmt: skip
    consumer.subscribe(["parcels"])
    seen = 0
    while seen < RECORDS:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None, "no records came back"
        assert message.error() is None, message.error()
        seen += 1
    consumer.commit(asynchronous=False)
    consumer.close()


def every_version(target: Target) -> None:
    """Each version of each API that the broker serves, once (what is harmless, with its answer)."""
    address = target.addresses[0]
    ranges = probe(target).api_versions
    advertised = {key: VersionRange(low, high) for key, (low, high) in ranges.items()}
    for _ in sweep(steps(advertised), (address.host, address.port), None, 5000, advertised):
        pass


RECORDINGS: dict[str, tuple[str, Callable[[Target], None]]] = {
    "kafka-3.9.2-python": ("3.9.2", python_clients),
    "kafka-4.4.0-python": ("4.4.0", python_clients),
    "kafka-4.4.0-librdkafka": ("4.4.0", librdkafka),
    "kafka-3.9.2-versions": ("3.9.2", every_version),
    "kafka-4.4.0-versions": ("4.4.0", every_version),
}


@contextmanager
def tcpdump(port: int, out: Path) -> Iterator[None]:
    """Record what goes over ``port`` on loopback; ends when all of it is in the file."""
    command = ["tcpdump", "-i", "lo", "-s", "0", "-U", "--immediate-mode", "-w", str(out)]
    command += [f"tcp port {port}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if "listening on" in line:
                break
        else:
            raise RuntimeError("tcpdump did not start; it needs root")
        try:
            yield
        finally:
            child.send_signal(signal.SIGINT)
            child.stderr.read()


def record(name: str) -> Path:
    """Make one capture again."""
    release, scenario = RECORDINGS[name]
    out = CAPTURES / f"{name}.pcap"
    with TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.pcap"
        with parse_target(f"kafka:{release}", log_dir=Path(folder)) as target:
            with tcpdump(target.addresses[0].port, raw):
                scenario(target)
        shutil.copyfile(raw, out)
    return out


if __name__ == "__main__":
    for wanted in sys.argv[1:] or RECORDINGS:
        made = record(wanted)
        print(f"{made.name}: {made.stat().st_size} bytes")

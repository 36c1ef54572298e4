"""Clients of other projects by SCRAM, by a token and by a certificate: each writes and reads."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from harness.clients.java_program import FLAGS
from harness.security.settings import SecurityProtocol
from harness.security.token_sources import UnsecuredToken
from harness.targets.artifacts import fetch_release
from harness.targets.java import find_java
from harness.targets.reference import ReferenceBroker
from harness.targets.run_security import WantedSecurity
from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.authentication.conftest import Secured, settings_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # they read their files in a way that Python warns of
    import aiokafka  # type: ignore[import-untyped]
    import aiokafka.abc  # type: ignore[import-untyped]
    import kafka
    import kafka.net.sasl.oauth

pytestmark = [
    pytest.mark.rotates(8),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:kafka"),
]
VALUES = [f"value {number}".encode() for number in range(20)]
SCRAM, BEARER, MUTUAL = "SCRAM-SHA-512", "OAUTHBEARER", "mutual TLS"
WAYS = (SCRAM, BEARER, MUTUAL)
TOKEN_LIFE_S = 3600
TOOLS_RELEASE = "4.3.1"


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A listener that requires certificates, and gives rights by their subjects."""
    wanted = WantedSecurity(SecurityProtocol.SSL, authorizer=True)
    folder: Path = tmp_path_factory.mktemp("certified")
    with ReferenceBroker(log_dir=folder, security=wanted) as target:
        yield Secured(target, settings_of(target))


@dataclass(frozen=True)
class Entry:
    """A broker, and the way by which a client enters it."""

    broker: Secured
    way: str

    @property
    def address(self) -> str:
        return str(self.broker.address)

    @property
    def certificate(self) -> str:
        """The PEM file of the client's certificate and key; empty: it shows none."""
        return self.broker.settings["ssl.keystore.location"] if self.way == MUTUAL else ""


@pytest.fixture(params=WAYS)
def entry(request: pytest.FixtureRequest) -> Entry:
    name = "certified" if request.param == MUTUAL else "secured"
    return Entry(request.getfixturevalue(name), request.param)


def token() -> str:
    return UnsecuredToken({"sub": "judge"}, TOKEN_LIFE_S).token()


# -- librdkafka --------------------------------------------------------------------------------


def of_librdkafka(entry: Entry) -> dict[str, Any]:
    own = {"ssl.certificate.location": entry.certificate, "ssl.key.location": entry.certificate}
    by_way: dict[str, dict[str, Any]] = {
        SCRAM: {
            "sasl.username": "judge",
            "sasl.password": entry.broker.settings.get("sasl.password"),
        },
        BEARER: {
            "sasl.oauthbearer.config": "principal=judge",
            "enable.sasl.oauthbearer.unsecure.jwt": True,
        },
        MUTUAL: own,
    }
    protocol = "SSL" if entry.way == MUTUAL else "SASL_SSL"
    named = {} if entry.way == MUTUAL else {"sasl.mechanism": entry.way}
    shared = {"bootstrap.servers": entry.address, "ssl.ca.location": entry.broker.ca}
    return {**shared, "security.protocol": protocol, **named, **by_way[entry.way]}


def by_confluent_kafka(entry: Entry, topic: str) -> list[bytes | None]:
    problems: list[object] = []
    producer = confluent_kafka.Producer(of_librdkafka(entry))
    for value in VALUES:
        producer.produce(topic, value, on_delivery=lambda error, _: problems.append(error))
    assert producer.flush(HANGS_AFTER_S) == 0
    assert problems == [None] * len(VALUES)
    group = {"group.id": topic, "auto.offset.reset": "earliest"}
    consumer = confluent_kafka.Consumer({**of_librdkafka(entry), **group})
    try:
        consumer.subscribe([topic])
        found: list[bytes | None] = []
        deadline = time.monotonic() + HANGS_AFTER_S
        while len(found) < len(VALUES) and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                found.append(message.value())
        return found
    finally:
        consumer.close()


# -- kafka-python ------------------------------------------------------------------------------


class TokenForKafkaPython(kafka.net.sasl.oauth.AbstractTokenProvider):  # type: ignore[misc]
    def token(self) -> str:
        return token()


def of_python(entry: Entry) -> dict[str, Any]:
    """The settings that kafka-python and aiokafka share."""
    by_way: dict[str, dict[str, Any]] = {
        SCRAM: {
            "sasl_plain_username": "judge",
            "sasl_plain_password": entry.broker.settings.get("sasl.password"),
        },
        BEARER: {"sasl_oauth_token_provider": TokenForKafkaPython()},
        MUTUAL: {},
    }
    protocol = "SSL" if entry.way == MUTUAL else "SASL_SSL"
    named = {} if entry.way == MUTUAL else {"sasl_mechanism": entry.way}
    shared = {"bootstrap_servers": entry.address, "security_protocol": protocol}
    return {**shared, **named, **by_way[entry.way]}


def by_kafka_python(entry: Entry, topic: str) -> list[bytes | None]:
    own = {"ssl_certfile": entry.certificate} if entry.certificate else {}
    settings = {**of_python(entry), "ssl_cafile": entry.broker.ca, **own}
    producer = kafka.KafkaProducer(**settings)
    for value in VALUES:
        producer.send(topic, value)
    producer.flush(HANGS_AFTER_S)
    producer.close()
    limit = {"consumer_timeout_ms": HANGS_AFTER_S * 1000, "auto_offset_reset": "earliest"}
    consumer = kafka.KafkaConsumer(topic, group_id=topic, **limit, **settings)
    try:
        return [record.value for _, record in zip(VALUES, consumer, strict=False)]
    finally:
        consumer.close()


# -- aiokafka ----------------------------------------------------------------------------------


class TokenForAiokafka(aiokafka.abc.AbstractTokenProvider):  # type: ignore[misc]
    async def token(self) -> str:
        return token()


def by_aiokafka(entry: Entry, topic: str) -> list[bytes | None]:
    context = ssl.create_default_context(cafile=entry.broker.ca)
    if entry.certificate:
        context.load_cert_chain(entry.certificate)
    settings = {**of_python(entry), "ssl_context": context}
    if entry.way == BEARER:
        settings["sasl_oauth_token_provider"] = TokenForAiokafka()

    async def write_and_read() -> list[bytes | None]:
        async with aiokafka.AIOKafkaProducer(**settings) as producer:
            for value in VALUES:
                await producer.send_and_wait(topic, value)
        group = {"group_id": topic, "auto_offset_reset": "earliest"}
        async with aiokafka.AIOKafkaConsumer(topic, **group, **settings) as consumer:
            return [(await consumer.getone()).value for _ in VALUES]

    return asyncio.run(asyncio.wait_for(write_and_read(), HANGS_AFTER_S))


LIBRARIES: dict[str, Callable[[Entry, str], list[bytes | None]]] = {
    "confluent-kafka": by_confluent_kafka,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_client_library_writes_and_reads(entry: Entry, library: str) -> None:
    topic = f"{library}-{entry.way.replace(' ', '-')}"
    assert LIBRARIES[library](entry, topic) == VALUES


# -- Java --------------------------------------------------------------------------------------

MODULES = "org.apache.kafka.common.security"


def of_java(entry: Entry, folder: Path) -> Path:
    """The properties file of the Java client."""
    password = entry.broker.settings.get("sasl.password")
    by_way = {
        SCRAM: f'{MODULES}.scram.ScramLoginModule required username="judge" password="{password}";',
        BEARER: f"{MODULES}.oauthbearer.OAuthBearerLoginModule required "
        'unsecuredLoginStringClaim_sub="judge";',
    }
    lines = [f"ssl.truststore.location={entry.broker.ca}", "ssl.truststore.type=PEM"]
    if entry.way == MUTUAL:
        lines += ["security.protocol=SSL", "ssl.keystore.type=PEM"]
        lines += [f"ssl.keystore.location={entry.certificate}"]
    else:
        lines += ["security.protocol=SASL_SSL", f"sasl.mechanism={entry.way}"]
        lines += [f"sasl.jaas.config={by_way[entry.way]}"]
    file = folder / "java.properties"
    file.write_text("\n".join(lines))
    return file


def run_tool(name: str, words: list[str], given: str = "") -> str:
    jars = [*fetch_release(TOOLS_RELEASE), *fetch_release(f"tools-{TOOLS_RELEASE}")]
    ended = subprocess.run(
        [str(find_java().executable), *FLAGS, f"org.apache.kafka.tools.{name}", *words],
        input=given,
        capture_output=True,
        text=True,
        env={**os.environ, "CLASSPATH": os.pathsep.join(map(str, jars))},
        timeout=HANGS_AFTER_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.deep
def test_the_java_client_writes_and_reads(entry: Entry, tmp_path: Path) -> None:
    topic, file = f"java-{entry.way.replace(' ', '-')}", str(of_java(entry, tmp_path))
    at = ["--bootstrap-server", entry.address, "--topic", topic]
    texts = [value.decode() for value in VALUES]
    run_tool("ConsoleProducer", [*at, "--command-config", file], "\n".join(texts))
    read = ["--command-config", file, "--from-beginning", "--max-messages", str(len(VALUES))]
    found = run_tool("consumer.ConsoleConsumer", [*at, *read, "--group", topic])
    assert found.split("\n")[: len(VALUES)] == texts

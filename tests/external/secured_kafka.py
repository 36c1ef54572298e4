"""A real Kafka with secured listeners beside its PLAINTEXT one, and the files of its clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.codec.messages import AlterUserScramCredentialsRequest
from harness.security.authority import Authority
from harness.security.scram_keys import salted_password
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.target import KafkaTarget
from harness.targets.ports import HOST, free_ports
from tests.sweep.brokers import advertised

USER, PASSWORD = "judge", "pass-word-SECRET-1"
STORE_PASSWORD = "store-word-SECRET-2"
ITERATIONS = 4096
SCRAM_NUMBERS = ((1, "sha256"), (2, "sha512"))
REAUTHENTICATED_MS = 4000


class Way(StrEnum):
    """The listeners."""

    PLAINTEXT = "PLAINTEXT"
    SASL = "SASL_SSL"
    MUTUAL = "SSL"
    UNENCRYPTED = "SASL_PLAINTEXT"


@dataclass(frozen=True)
class SecuredKafka:
    """A broker that runs, and a folder for files of clients."""

    ports: dict[Way, int]
    folder: Path

    def plain(self) -> str:
        return f"external:{HOST}:{self.ports[Way.PLAINTEXT]}"

    def secured(self, way: Way, lines: str, name: str = "client.properties") -> str:
        """The target string of a listener, with a new file of these lines."""
        file = self.folder / name
        trust = f"ssl.truststore.location={self.folder / 'ca.pem'}\nssl.truststore.type=PEM\n"
        tls = trust if way.value.endswith("SSL") else ""
        file.write_text(f"security.protocol={way.value}\n{tls}{lines}\n")
        return f"external:{HOST}:{self.ports[way]},config={file}"


def with_password(mechanism: str, password: str = PASSWORD) -> str:
    """The lines of a client's file."""
    module = {"PLAIN": "plain.Plain"}.get(mechanism, "scram.Scram")
    return (
        f"sasl.mechanism={mechanism}\n"
        f"sasl.jaas.config=org.apache.kafka.common.security.{module}LoginModule required \\\n"
        f'  username="{USER}" password="{password}";'
    )


def with_unsecured_token(subject: str = USER) -> str:
    return (
        "sasl.mechanism=OAUTHBEARER\n"
        "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule \\\n"
        f'  required unsecuredLoginStringClaim_sub="{subject}";'
    )


def with_certificate(kafka: SecuredKafka) -> str:
    return (
        f"ssl.keystore.location={kafka.folder / 'client.p12'}\n"
        f"ssl.keystore.password={STORE_PASSWORD}"
    )


@contextmanager
def secured_kafka(release: str, folder: Path, mode: str | None = None) -> Iterator[SecuredKafka]:
    """Start it with certificates of its own, and a user of both SCRAM mechanisms and of PLAIN."""
    authority = Authority()
    authority.write_pem(folder / "ca.pem")
    authority.sign("broker").write_pkcs12(folder / "broker.p12", STORE_PASSWORD)
    authority.sign("client").write_pkcs12(folder / "client.p12", STORE_PASSWORD)
    ports = free_ports(5)
    quorum, by_way = ports[1], dict(zip(Way, [ports[0], *ports[2:]], strict=True))
    target = KafkaTarget(release, mode=mode, log_dir=folder / "logs",
                         choose_ports=lambda count: ports[:count])  # fmt: skip
    target.settings |= _settings(target.mode, folder, by_way, quorum)
    with target:
        _add_user(Address(HOST, by_way[Way.PLAINTEXT]))
        yield SecuredKafka(by_way, folder)


def _settings(mode: Mode, folder: Path, ports: dict[Way, int], quorum: int) -> dict[str, str]:
    listeners = [f"{way.value}://{HOST}:{port}" for way, port in ports.items()]
    controller = [f"CONTROLLER://{HOST}:{quorum}"] if mode is Mode.KRAFT else []
    names = {way.value: way.value for way in Way} | {"CONTROLLER": "PLAINTEXT"}
    settings = {
        "listeners": ",".join(listeners + controller),
        "advertised.listeners": ",".join(listeners),
        "listener.security.protocol.map": ",".join(f"{k}:{v}" for k, v in names.items()),
        "inter.broker.listener.name": Way.PLAINTEXT.value,
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(folder / "broker.p12"),
        "ssl.keystore.password": STORE_PASSWORD,
        "ssl.key.password": STORE_PASSWORD,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_plaintext.connections.max.reauth.ms": str(REAUTHENTICATED_MS),
    }
    security = "org.apache.kafka.common.security"
    for listener in ("sasl_ssl", "sasl_plaintext"):
        begin = f"listener.name.{listener}"
        for mechanism in ("scram-sha-256", "scram-sha-512"):
            settings[f"{begin}.{mechanism}.sasl.jaas.config"] = (
                f"{security}.scram.ScramLoginModule required;"
            )
        settings[f"{begin}.plain.sasl.jaas.config"] = (
            f'{security}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
        )
        settings[f"{begin}.oauthbearer.sasl.jaas.config"] = (
            f"{security}.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="broker";'
        )
    return settings


def _add_user(address: Address) -> None:
    ranges = {key: (one.lowest, one.highest) for key, one in advertised(address).items()}
    salt = b"salt of a test"
    upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    credentials = [
        upsertion(
            name=USER,
            mechanism=number,
            iterations=ITERATIONS,
            salt=salt,
            salted_password=salted_password(digest, PASSWORD, salt, ITERATIONS),
        )
        for number, digest in SCRAM_NUMBERS
    ]
    with closing(BrokerUnderTest([address], ranges)) as client:
        for one in credentials:  # Kafka changes one credential of a user in a request
            answer = client.ask(AlterUserScramCredentialsRequest(deletions=[], upsertions=[one]))
            assert [each.error_code for each in answer.results] == [0], answer

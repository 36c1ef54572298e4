"""The security of a cluster that a run starts: certificates, a user, and the client's file.

All of it is made at the start, in a folder that only this user can read, and goes at the stop. The
password is random; a broker of ours gets it by its environment, so no command line has it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base import authorizers
from harness.base.address import Address
from harness.base.extras import install_line
from harness.security.settings import Mechanism, SecurityProtocol
from harness.targets.errors import TargetError
from harness.targets.kind import choose
from harness.targets.scratch import ScratchFolder
from harness.targets.secured_cluster import SecuredCluster, SecuredWay

USER, BROKER = "judge", "broker"
OTHER = r"CN=Other\, Judge,OU=Protocol,O=Kafka-Conformance,C=DE"
"""The subject of a certificate that is trusted and has no right at first."""
ANONYMOUS = "User:ANONYMOUS"
"""A client of a listener without authentication."""
ON = "on"
OPTIONS = {
    "security": "of the listener for clients: ssl, sasl_plaintext or sasl_ssl; the run makes the "
    "certificates and the user",
    "mechanism": "with SASL, the one by which the run enters: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512",
}
AUTHORIZER_OPTIONS = {
    "authorizer": "on: requests need rights (ACLs), and the run's user is a super user; without "
    "security= the listener is sasl_plaintext, entered by PLAIN; with ssl it wants certificates",
}
MECHANISMS = (Mechanism.PLAIN, Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512)
"""Those of a listener with SASL; the user has the same password for each."""
_BEARER_SINCE = (2, 0)
"""KIP-255: the listener takes tokens of the user without a signature too, from this release on."""
_USUAL_MECHANISM = Mechanism.SCRAM_SHA_512
_USUAL_WITH_AUTHORIZER = {"security": "sasl_plaintext", "mechanism": Mechanism.PLAIN.value}
_WANTS_CERTIFICATES = {"ssl.client.auth": "required"}
KEY_OF_TOKENS = "delegation.token.secret.key"
"""With it a broker has delegation tokens; here it is the password of the run."""
_PASSWORD_BYTES = 24
_VARIABLE = "KAFKA_CONFORMANCE_RUN_PASSWORD"
_BROKER_VARIABLE = "KAFKA_CONFORMANCE_BROKER_PASSWORD"
_MODULES = "org.apache.kafka.common.security"
_PRIVATE = 0o600
_CLIENTS = "client.properties"
BROKER_CERTIFICATE, CLIENT_CERTIFICATE = "broker.pem", "client.pem"
"""The files of the certificates and keys of a broker, and of the user of the run."""


@dataclass(frozen=True, slots=True)
class WantedSecurity:
    """The options of a target string."""

    protocol: SecurityProtocol
    mechanism: Mechanism | None = None
    authorizer: bool = False

    def principal_of(self, name: str) -> str:
        """Return the principal of a user of SASL, or of a certificate with this common name."""
        return f"User:{name}" if self.protocol.has_sasl else f"User:CN={name}"

    @property
    def words(self) -> list[str]:
        """The options again, for the name of the target."""
        named = [f"security={self.protocol.value.lower()}"]
        named += [f"mechanism={self.mechanism}"] if self.mechanism else []
        return [*named, f"authorizer={ON}"] if self.authorizer else named


def wanted_security(options: Mapping[str, str]) -> WantedSecurity | None:
    """Read the options; None without them. Raises TargetError."""
    if "authorizer" not in options:
        return _without_authorizer(options)
    choose("authorizer", options["authorizer"], [ON])
    usual = {} if "security" in options else _USUAL_WITH_AUTHORIZER
    wanted = _without_authorizer({**usual, **options})
    assert wanted is not None, "the options have a protocol"
    return replace(wanted, authorizer=True)


def _without_authorizer(options: Mapping[str, str]) -> WantedSecurity | None:
    if "security" not in options:
        if "mechanism" in options:
            raise TargetError("mechanism= needs security=sasl_plaintext or security=sasl_ssl")
        return None
    known = [each.value.lower() for each in SecurityProtocol][1:]
    protocol = SecurityProtocol(choose("security", options["security"], known).upper())
    if not protocol.has_sasl:
        if "mechanism" in options:
            raise TargetError(f"mechanism= contradicts security={options['security']}: no SASL")
        return WantedSecurity(protocol)
    name = options.get("mechanism", _USUAL_MECHANISM.value)
    return WantedSecurity(
        protocol, Mechanism(choose("mechanism", name, [each.value for each in MECHANISMS]))
    )


class RunSecurity:
    """Of one start of a target; ``stop`` forgets it."""

    def __init__(self, wanted: WantedSecurity, like: str = "") -> None:
        """``like``: the release that a broker of ours emulates."""
        self.wanted = wanted
        self._takes_tokens = not like or tuple(map(int, like.split("."))) >= _BEARER_SINCE
        self.password = self.broker_password = ""
        self._scratch: ScratchFolder | None = None
        self._cluster: SecuredCluster | None = None

    def start(self) -> None:
        """Make the certificates, the password and the client's file. Raises TargetError."""
        self.stop()
        self._scratch = ScratchFolder()
        self.password = secrets.token_urlsafe(_PASSWORD_BYTES)
        self.broker_password = secrets.token_urlsafe(_PASSWORD_BYTES)
        self._make_certificates()
        self._cluster = SecuredCluster(self.client_file(self.wanted.mechanism))

    @property
    def _mechanisms(self) -> list[str]:
        return [*MECHANISMS, *([Mechanism.OAUTHBEARER] if self._takes_tokens else [])]

    @property
    def folder(self) -> Path:
        """The folder of the files; ``ca.pem``, ``broker.pem`` and ``broker.p12`` among them."""
        assert self._scratch is not None, "it is started"
        return self._scratch.path

    @property
    def way(self) -> SecuredWay:
        """The way in, for the run and its workers."""
        assert self._cluster is not None, "it is started"
        return self._cluster.way

    def open(self, places: Iterable[Address]) -> None:
        """Enter these listeners by the client's file from now on. Raises TargetError."""
        assert self._cluster is not None, "it is started"
        self._cluster.open(places)

    def stop(self) -> None:
        """Forget the way in, and remove the files. Twice is fine."""
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            cluster.close()
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.remove()

    @property
    def client_environment(self) -> dict[str, str]:
        """The environment of a broker of ours."""
        secret = {_VARIABLE: self.password, _BROKER_VARIABLE: self.broker_password}
        return {**os.environ, **secret}

    def reference_settings(self, listener: str) -> dict[str, str]:
        """The settings of a broker of ours with this listener, without a secret."""
        return {
            "listener.security.protocol.map": f"{listener}:{self.wanted.protocol.value}",
            "sasl.enabled.mechanisms": ",".join(self._mechanisms),
            "sasl.jaas.config": _plain_module(f"${{env:{_VARIABLE}}}"),
            "ssl.keystore.location": str(self.folder / BROKER_CERTIFICATE),
            "ssl.truststore.location": str(self.folder / "ca.pem"),
            KEY_OF_TOKENS: f"${{env:{_VARIABLE}}}",
            **self.authorizer_settings(authorizers.STANDARD, brokers=[ANONYMOUS]),
        }

    def reference_node_settings(self, *listeners: str) -> dict[str, str]:
        """The settings of a node of our cluster: all its listeners have the protocol, and the nodes
        enter each other by a user, or a certificate, of their own."""
        protocol = self.wanted.protocol
        brokers = self.wanted.principal_of(BROKER)
        return {
            **self.reference_settings(listeners[0]),
            "listener.security.protocol.map": ",".join(
                f"{listener}:{protocol.value}" for listener in listeners
            ),
            "sasl.jaas.config": _plain_module(
                f"${{env:{_VARIABLE}}}", f"${{env:{_BROKER_VARIABLE}}}"
            ),
            **self.authorizer_settings(authorizers.STANDARD, brokers=[brokers]),
        }

    def authorizer_settings(self, class_name: str, *, brokers: Sequence[str]) -> dict[str, str]:
        """The settings of an authorizer of this class, if the run wants one.

        ``brokers``: the principals of the brokers, which need all rights, as the user of the run.
        No client is anonymous: the listener has SASL, or it wants certificates. Where a test lets
        it want none, brokers are anonymous too.
        """
        if not self.wanted.authorizer:
            return {}
        named = [self.wanted.principal_of(USER), *brokers]
        named += [] if self.wanted.protocol.has_sasl else [ANONYMOUS]
        settings = {
            authorizers.SETTING: class_name,
            authorizers.SUPER_USERS: ";".join(dict.fromkeys(named)),
        }
        return settings if self.wanted.protocol.has_sasl else {**settings, **_WANTS_CERTIFICATES}

    @property
    def reference_users(self) -> list[str]:
        """The options of a broker of ours with the user of SCRAM."""
        pairs = f"[name={USER},password=${{env:{_VARIABLE}}}]"
        scram = [each for each in MECHANISMS if each is not Mechanism.PLAIN]
        return [word for each in scram for word in ("--add-scram", f"{each}={pairs}")]

    def kafka_settings(self, listener: str, *between: str) -> dict[str, str]:
        """The settings of a real Kafka with this listener for clients.

        ``between``: those through which nodes enter each other; without any, by that of clients.
        The stores are named for the listener, so that a test may change the settings of all.
        """
        begin = f"listener.name.{listener.lower()}"
        settings = {
            "sasl.enabled.mechanisms": ",".join(self._mechanisms),
            "sasl.mechanism.inter.broker.protocol": Mechanism.PLAIN.value,
            "sasl.mechanism.controller.protocol": Mechanism.PLAIN.value,
        }
        module = f"{_MODULES}.scram.ScramLoginModule required;"
        for name in ("scram-sha-256", "scram-sha-512"):
            settings[f"{begin}.{name}.sasl.jaas.config"] = module
        settings[f"{begin}.oauthbearer.sasl.jaas.config"] = (
            f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required "
            f'unsecuredLoginStringClaim_sub="{USER}";'
        )
        for name in between:
            settings |= self._of_listener(name)
            mechanisms = f"listener.name.{name.lower()}.sasl.enabled.mechanisms"
            settings[mechanisms] = Mechanism.PLAIN.value
        return {**settings, **self._of_listener(listener)}

    def _of_listener(self, listener: str) -> dict[str, str]:
        """The stores of a Kafka's listener, and the users of PLAIN."""
        begin = f"listener.name.{listener.lower()}"
        module = _plain_module(self.password, self.broker_password)
        settings = {f"{begin}.plain.sasl.jaas.config": module}
        for store, file in (("keystore", "broker.p12"), ("truststore", "ca.p12")):
            settings[f"{begin}.ssl.{store}.type"] = "PKCS12"
            settings[f"{begin}.ssl.{store}.location"] = str(self.folder / file)
            settings[f"{begin}.ssl.{store}.password"] = self.password
        return {**settings, f"{begin}.ssl.key.password": self.password}

    def client_file(self, mechanism: Mechanism | None) -> Path:
        """Write the file of a client that enters by this mechanism; return its path."""
        lines = [f"security.protocol={self.wanted.protocol.value}"]
        if self.wanted.protocol.has_tls:
            lines += [f"ssl.truststore.location={self.folder / 'ca.pem'}"]
            lines += ["ssl.truststore.type=PEM", "ssl.keystore.type=PEM"]
            lines += [f"ssl.keystore.location={self.folder / CLIENT_CERTIFICATE}"]
            begin, name = "kafka-conformance.keystore", OTHER.replace("\\", "\\\\")
            lines += [f"{begin}.other={self.folder / 'other.pem'}", f"{begin}.other.name={name}"]
            lines += [f"{begin}.untrusted={self.folder / 'untrusted.pem'}"]
        if mechanism is not None:
            lines += [f"sasl.mechanism={mechanism}", f"sasl.username={USER}"]
            lines += [f"sasl.password={self.password}"]
            lines += [f"kafka-conformance.mechanisms={','.join(self._mechanisms)}"]
        path = self.folder / (_CLIENTS if mechanism is self.wanted.mechanism else f"{mechanism}")
        path.write_text("".join(f"{line}\n" for line in lines))
        path.chmod(_PRIVATE)
        return path

    def _make_certificates(self) -> None:
        try:
            from harness.security.authority import Authority, subject
        except ImportError:
            raise TargetError(
                f"security= needs cryptography, which is not installed: {install_line('security')}"
            ) from None
        authority = Authority()
        authority.write_pem(self.folder / "ca.pem")
        authority.write_java_truststore(self.folder / "ca.p12", self.password)
        authority.sign(USER).write_pem(self.folder / CLIENT_CERTIFICATE)
        authority.sign(subject(OTHER)).write_pem(self.folder / "other.pem")
        Authority("another authority").sign(USER).write_pem(self.folder / "untrusted.pem")
        broker = authority.sign(BROKER)
        broker.write_pem(self.folder / BROKER_CERTIFICATE)
        broker.write_pkcs12(self.folder / "broker.p12", self.password)
        for path in self.folder.iterdir():
            path.chmod(_PRIVATE)


def _plain_module(password: str, own: str = "") -> str:
    """Return the login module of a broker; ``own`` is the password by which it enters others."""
    module = f"{_MODULES}.plain.PlainLoginModule"
    users = f'user_{USER}="{password}"'
    if not own:
        return f"{module} required {users};"
    entry = f'username="{BROKER}" password="{own}" user_{BROKER}="{own}"'
    return f"{module} required {entry} {users};"

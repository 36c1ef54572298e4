"""A real Kafka with TLS or SASL on its listeners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from harness.base import authorizers
from harness.base.address import Address
from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterUserScramCredentialsRequest
from harness.security.scram_keys import LEAST_ITERATIONS, salted_password
from harness.security.settings import Mechanism
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.kafka.broker_config import (
    CLIENT,
    CONTROLLER,
    INTER_BROKER_LISTENER,
    INTERNAL,
    PROTOCOL,
    QUICK_RETURN,
)
from harness.targets.kafka.eras import Fact, Mode, knows
from harness.targets.kafka.jvm import HEAP, QUICK
from harness.targets.kafka.target import KafkaTarget
from harness.targets.pinned_file import Progress
from harness.targets.run_security import (
    ANONYMOUS,
    BROKER,
    KEY_OF_TOKENS,
    USER,
    RunSecurity,
    WantedSecurity,
)
from harness.targets.secured_cluster import SecuredCluster
from harness.targets.target import JOIN_AS_BROKER, LINKS, UPGRADE, Target

_FIRST = (2, 7)
"""KIP-554: users can be added by requests."""
_KEY_IS_RENAMED = (2, 8)
"""KIP-681."""
_OLD_KEY_OF_TOKENS = "delegation.token.master.key"
_SCRAM = {Mechanism.SCRAM_SHA_256: (1, "sha256"), Mechanism.SCRAM_SHA_512: (2, "sha512")}
_SALT = b"salt of a run"
_AUTHORIZERS = {
    Mode.KRAFT: authorizers.STANDARD,
    Mode.ZK: authorizers.OF_ZOOKEEPER,
}


class SecuredKafka(KafkaTarget):
    """The brokers with the settings of a run's security, and the user of SCRAM added by PLAIN.

    No virtual broker can join, and no link can be cut. With an authorizer the user of the run is a
    super user, and any other user has no right at first.
    """

    def __init__(
        self,
        release: str,
        wanted: WantedSecurity,
        *,
        mode: str | None = None,
        nodes: int = 1,
        heap: str = HEAP,
        jvm: str = QUICK,
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Raises TargetError: as KafkaTarget, and for a release without users."""
        self._security, self._given = RunSecurity(wanted), dict(settings or {})
        self._first: SecuredCluster | None = None
        self._count = nodes
        super().__init__(
            release,
            mode=mode,
            nodes=nodes,
            heap=heap,
            jvm=jvm,
            settings=settings,
            log_dir=log_dir,
            progress=progress,
        )
        if tuple(map(int, release.split(".")[:2])) < _FIRST:
            raise TargetError(f"security={wanted.protocol.value.lower()}: from Kafka 2.7 on")
        of_kraft = self.mode is Mode.KRAFT and wanted.mechanism is not None
        if of_kraft and not knows(release, Fact.KRAFT_USERS):
            raise TargetError(f"security={wanted.protocol.value.lower()}, KRaft: from Kafka 3.5 on")
        self.capabilities = self.capabilities - {JOIN_AS_BROKER, LINKS, UPGRADE}

    def _spec(self) -> str:
        named, *rest = super()._spec().split(",", 1)
        return ",".join([named, *self._security.wanted.words, *rest])

    def start(self) -> list[Address]:
        if self.is_alive():
            return self.addresses
        started = super().start()
        if self._first is not None:
            self._add_user(started)
            self._first.close()
        self._security.open(started)
        self.secured = self._security.way
        return started

    def _before_start(self, addresses: Sequence[Address]) -> None:
        """The broker is entered by PLAIN until it has the user of SCRAM."""
        super()._before_start(addresses)
        self._security.start()
        own = {
            **self._listener_settings(),
            **self._token_key(),
            **self._authorizer_settings(),
        }
        given = {**own, **self._given}
        # An empty key would be a key: without tokens there is none.
        self.settings = {k: v for k, v in given.items() if v or k not in self._token_key()}
        self._plan = self._planned(self._count, 1)
        at_clients = addresses[: self._count]
        if self._security.wanted.mechanism is None:
            self._security.open(at_clients)
        else:
            self._first = SecuredCluster(self._security.client_file(Mechanism.PLAIN))
            self._first.open(at_clients)

    def _listener_settings(self) -> dict[str, str]:
        """One broker has a listener for all, and its controller a PLAINTEXT one, which no other
        process enters; several have one for brokers, and all of them are secured."""
        security, protocol = self._security, self._security.wanted.protocol.value
        has_controller = self.mode is Mode.KRAFT
        if self._count == 1:
            names = {PROTOCOL: protocol, **({CONTROLLER: PROTOCOL} if has_controller else {})}
            found = {**security.kafka_settings(PROTOCOL), INTER_BROKER_LISTENER: PROTOCOL}
        else:
            between = [INTERNAL, *([CONTROLLER] if has_controller else [])]
            names = dict.fromkeys([CLIENT, *between], protocol)
            found = security.kafka_settings(CLIENT, *between)
        mapped = ",".join(f"{name}:{each}" for name, each in names.items())
        return {**found, "listener.security.protocol.map": mapped}

    def _token_key(self) -> dict[str, str]:
        is_renamed = tuple(map(int, self.release.split(".")[:2])) >= _KEY_IS_RENAMED
        return {KEY_OF_TOKENS if is_renamed else _OLD_KEY_OF_TOKENS: self._security.password}

    def _authorizer_settings(self) -> dict[str, str]:
        """Brokers enter each other, and one itself, by a user or a certificate of their own; one
        with KRaft also enters its controller's PLAINTEXT listener."""
        brokers = [self._security.wanted.principal_of(BROKER)]
        if self.mode is Mode.KRAFT and self._count == 1:
            brokers.append(ANONYMOUS)
        return self._security.authorizer_settings(_AUTHORIZERS[self.mode], brokers=brokers)

    def _end(self) -> None:
        super()._end()
        if self._first is not None:
            self._first.close()
            self._first = None

    def stop(self) -> None:
        super().stop()
        self._security.stop()
        self.secured = None

    def _add_user(self, addresses: Sequence[Address]) -> None:
        upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
        for number, digest in _SCRAM.values():  # one credential of a user in a request
            password = self._security.password
            one = upsertion(
                name=USER,
                mechanism=number,
                iterations=LEAST_ITERATIONS,
                salt=_SALT,
                salted_password=salted_password(digest, password, _SALT, LEAST_ITERATIONS),
            )
            self._change(
                addresses, AlterUserScramCredentialsRequest(deletions=[], upsertions=[one])
            )

    def _change(
        self, addresses: Sequence[Address], request: AlterUserScramCredentialsRequest
    ) -> None:
        """Send it to the controller: with a ZooKeeper one of the brokers, which forward nothing.

        Raises TargetStartError.
        """
        for address in addresses:
            with closing(Connection(address)) as connection:
                (result,) = connection.ask(request, 0).results
            if result.error_code == ErrorCode.NONE:
                return
            if result.error_code != ErrorCode.NOT_CONTROLLER:
                break
        error = ErrorCode.describe(result.error_code)
        raise TargetStartError(f"{self.spec}: no user: {error}: {result.error_message}")

    def _another(self, settings: dict[str, str]) -> SecuredKafka:
        return self._another_cluster(settings, 1)

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> SecuredKafka:
        return SecuredKafka(
            self.release,
            self._security.wanted,
            mode=self.mode.value,
            nodes=nodes,
            heap=self.heap,
            jvm=self.jvm,
            settings={**self._given, **settings},
            log_dir=self._log_folder(),
        )

    def _another_kept(self, settings: dict[str, str]) -> Target:
        return self._another({**QUICK_RETURN, **settings})

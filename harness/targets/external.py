"""A broker that somebody else runs: we only know where it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.targets.address import parse_address
from harness.targets.asking import (
    NotAnswered,
    advertises,
    ask_api_versions,
    ask_oldest_metadata,
)
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.kind import Making, TargetKind
from harness.targets.target import CREATE_TOPICS, Address, Target

ANSWER_TIMEOUT_MS = 10_000
ALIVE_TIMEOUT_MS = 5_000
WHAT_TO_DO = (
    "Start the broker, or correct the address: it is that of a PLAINTEXT listener, as in "
    "bootstrap.servers."
)


class ExternalBroker(Target):
    """Brokers at given addresses, neither started nor stopped by us.

    That tests may create topics is assumed; there is no log and no private broker.
    """

    implementation = "external"
    release = "unknown"
    capabilities = frozenset({CREATE_TOPICS})

    def __init__(
        self,
        bootstrap: Sequence[Address],
        *,
        log_dir: Path | None = None,
        answer_timeout_ms: int = ANSWER_TIMEOUT_MS,
    ) -> None:
        super().__init__(log_dir)
        self.bootstrap = list(bootstrap)
        self.spec = "external:" + ",".join(str(address) for address in self.bootstrap)
        self._answer_timeout_ms = answer_timeout_ms
        self._advertises: dict[Address, bool] = {}

    @property
    def log_path(self) -> Path | None:
        return None

    def start(self) -> list[Address]:
        """Ask each address for its ApiVersions, or Metadata v0; all of them must answer."""
        for address in self.bootstrap:
            try:
                self._advertises[address] = advertises(address, self._answer_timeout_ms)
            except NotAnswered as problem:
                raise TargetStartError(
                    f"no Kafka broker answers at {address}: {problem}. {WHAT_TO_DO}"
                ) from problem
        self.addresses = list(self.bootstrap)
        return self.addresses

    def is_alive(self) -> bool:
        """Whether all addresses still answer (before the start: False)."""
        try:
            for address in self.addresses:
                ask = ask_api_versions if self._advertises[address] else ask_oldest_metadata
                ask(address, ALIVE_TIMEOUT_MS)
        except NotAnswered:
            return False
        return bool(self.addresses)

    def stop(self) -> None:
        """Only forget the addresses: the broker is not ours to end."""
        self.addresses = []


def _make(rest: str | None, making: Making) -> ExternalBroker:
    if not rest:
        raise TargetError("an address is missing: HOST:PORT, several separated by commas")
    return ExternalBroker([parse_address(word) for word in rest.split(",")], log_dir=making.log_dir)


KIND = TargetKind(
    name="external",
    form="external:HOST:PORT[,HOST:PORT...]",
    example="external:127.0.0.1:9092",
    meaning="a broker or cluster that runs already (IPv6 in brackets)",
    capabilities=ExternalBroker.capabilities,
    make=_make,
)

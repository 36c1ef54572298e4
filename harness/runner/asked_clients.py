"""Clients of other projects that tests ask, at the broker of the run.

A run of ``suites/clients`` is about a pair of a client (``--client``) and a target. A case that
failed at another broker too (``--client-failures``) is the client's, and is not asked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from harness.client.broker import BrokerUnderTest
from harness.clients.known import KnownClient, UnknownClient, parse_client
from harness.clients.session import ClientSession
from harness.codec.versions import VersionRange
from harness.conformance.outcome import (
    Inconclusive,
    NotApplicable,
    NotSupported,
)

CLIENT: Final = "client"
"""The missing capability, in a record, of what is the client's."""
GONE_IN_SUCCESSION: Final = 3
"""A client that ends, or is silent, in so many cases in a row is not asked in those that follow."""
SOME_MS: Final = 15_000
ASKED = pytest.StashKey["AskedClients"]()
"""Of the configuration of pytest."""


@dataclass(slots=True)
class ClientUnderTest:
    """A client in one test; ``calls``: what it does, at the address of the broker."""

    known: KnownClient
    broker: BrokerUnderTest
    calls: ClientSession
    start: Callable[[str], ClientSession]
    """Starts another process of the client, by bootstrap addresses."""
    topics: list[str] = field(default_factory=list)

    def start_at(self, address: tuple[str, int]) -> ClientSession:
        """Another process of the client, at this address; the end of the test ends it."""
        return self.start(f"{address[0]}:{address[1]}")

    def topic(self) -> str:
        """A name that no other test uses; the topic is deleted at the end of the test."""
        name = self.broker.unique_topic()
        self.topics.append(name)
        return name

    def create(self, partitions: int = 1, configs: Mapping[str, str] | None = None) -> str:
        """A topic that the client has created and that has its leaders."""
        name = self.topic()
        self.calls.create_topic(name, partitions, configs)

        def leaders() -> bool:
            (found,) = self.broker.metadata([name]).topics
            well = [one for one in found.partitions if one.error_code == 0 and one.leader_id >= 0]
            return len(well) == partitions

        self.eventually(leaders, f"{partitions} partitions of the new topic have leaders")
        return name

    def eventually(self, is_so: Callable[[], bool], what: str, within_ms: float = SOME_MS) -> None:
        """Look until it is so; fail with ``what``, which was expected."""
        found = self.broker.last_seen(is_so, lambda seen: seen, within_ms)
        assert found, f"not so in {within_ms:g} ms: {what}"


class AskedClients:
    """The processes of the client in this process, and what is known of it before the tests."""

    def __init__(self, config: pytest.Config) -> None:
        """Raises UsageError."""
        try:
            self.known = parse_client(config.getoption("client"))
        except (UnknownClient, ModuleNotFoundError) as problem:
            raise pytest.UsageError(str(problem)) from problem
        self._answer_s: float = config.getoption("client_answer_s")
        self._failures = _failures(config.getoption("client_failures"))
        self._started = 0
        self._shared: tuple[str, ClientSession] | None = None
        self._gone = 0

    def require_own_success(self, case: str) -> None:
        """Raises NotApplicable: the client failed in this case at the other broker as well."""
        if reason := self._failures.get(case):
            raise NotApplicable(CLIENT, reason)

    def require_versions(self, needs: Mapping[str, VersionRange], broker: BrokerUnderTest) -> None:
        """Raises NotSupported: an API without a version that client and broker share."""
        own = self.known.versions
        for api, needed in needs.items():
            there, spoken = broker.advertised(api), VersionRange(0, 1 << 14)
            if own is not None:
                spoken = own.versions.get(api, VersionRange(1, 0))
            if not needed & there & spoken:
                has = "" if own is None else f"{self.known.label} has {spoken}, "
                raise NotSupported(f"{api} {needed}: {has}the broker {there}")

    def session(self, addresses: str, folder: Path, scale: float) -> ClientSession:
        """The process at these addresses, started when there is none. Raises Inconclusive."""
        if self._gone >= GONE_IN_SUCCESSION:
            raise Inconclusive(
                f"{self.known.label} ended, or did not answer, in {self._gone} cases in a row"
            )
        if self._shared is None or self._shared[0] != addresses:
            self.close()
            self._shared = addresses, self.start(addresses, folder, scale)
        return self._shared[1]

    def start(self, addresses: str, folder: Path, scale: float) -> ClientSession:
        """Another process."""
        self._started += 1
        folder.mkdir(exist_ok=True)
        log = folder / f"{self.known.label}-{id(self):x}-{self._started}.log"
        return self.known.start(addresses, log, self._answer_s * scale).__enter__()

    def note_end(self) -> None:
        """A test has ended: a process that is gone, or has calls that wait, is not used again."""
        self._gone = self._gone + 1 if self._shared and self._shared[1].is_gone else 0
        if self._gone:
            self.close()

    def close(self) -> None:
        """End the shared process."""
        if self._shared is not None:
            shared, self._shared = self._shared, None
            shared[1].__exit__(None, None, None)


def _failures(file: str | None) -> Mapping[str, str]:
    return json.loads(Path(file).read_text("utf-8")) if file else {}


def asked_clients(config: pytest.Config) -> AskedClients:
    """The ones of this process. Raises UsageError."""
    if ASKED not in config.stash:
        config.stash[ASKED] = AskedClients(config)
    return config.stash[ASKED]

"""One broker with a SASL_SSL listener, in a process of its own, for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.address import Address
from harness.security.settings import Mechanism, SecurityProtocol
from harness.targets.reference import ReferenceBroker
from harness.targets.run_security import WantedSecurity


@dataclass(frozen=True)
class Secured:
    """A broker that runs; ``settings`` are those of the client's file."""

    target: ReferenceBroker
    settings: dict[str, str]

    @property
    def address(self) -> Address:
        return self.target.addresses[0]

    @property
    def password(self) -> str:
        return self.settings["sasl.password"]

    @property
    def ca(self) -> str:
        return self.settings["ssl.truststore.location"]


def settings_of(target: ReferenceBroker) -> dict[str, str]:
    """The settings of the file by which the run enters the broker."""
    assert target.secured is not None
    lines = Path(target.secured.file).read_text().splitlines()
    return dict(line.partition("=")[::2] for line in lines)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    wanted = WantedSecurity(SecurityProtocol.SASL_SSL, Mechanism.SCRAM_SHA_256)
    settings = {"connection.failed.authentication.delay.ms": "20"}
    folder: Path = tmp_path_factory.mktemp("secured")
    with ReferenceBroker(log_dir=folder, security=wanted, settings=settings) as target:
        yield Secured(target, settings_of(target))

"""The broker that is thrown away: all tests share one, and get another when it has died."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.base.address import Address
from harness.runner.brokers.pooled_broker import PooledBroker
from harness.targets.errors import MissingCapability
from harness.targets.external import ExternalBroker
from harness.targets.target import OWN_BROKER, Target
from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)


class Counted(Target):
    """A target without a process that counts those started like it, with their settings."""

    spec = "counted"
    capabilities = frozenset({OWN_BROKER})

    def __init__(self, started: list[Counted]) -> None:
        super().__init__()
        self.started, self.alive = started, False
        self.settings: Mapping[str, str] = {}

    def start(self) -> list[Address]:
        self.alive = True
        self.started.append(self)
        self.addresses = [Address("127.0.0.1", len(self.started))]
        return self.addresses

    def stop(self) -> None:
        self.alive = False

    def is_alive(self) -> bool:
        return self.alive

    @property
    def log_path(self) -> None:
        return None

    def start_another(
        self, settings: Mapping[str, str] | None = None, *, nodes: int = 1, **links: Any
    ) -> Target:
        assert nodes == 1
        assert not links
        another = Counted(self.started)
        another.settings = settings or {}
        another.start()
        return another


def test_pool_reuses_broker_until_it_dies() -> None:
    started: list[Counted] = []
    pooled, like = PooledBroker(), Counted(started)
    first = pooled.acquire(lambda: like)
    assert pooled.acquire(lambda: like) is first
    started[0].alive = False
    second = pooled.acquire(lambda: like)
    assert second is not first
    assert (len(started), second.is_alive(), like.is_alive()) == (2, True, False)
    pooled.stop()
    pooled.stop()
    assert not second.is_alive()


def test_target_without_own_broker_raises_missing_capability() -> None:
    with pytest.raises(MissingCapability, match="own_broker"):
        PooledBroker().acquire(lambda: ExternalBroker([Address("127.0.0.1", 1)]))


def test_broker_of_failed_test_is_not_reused(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    SmallSuite(tmp_path, "reference").write(
        f"""
        def note(broker):
            with open({str(seen)!r}, "a") as file:
                file.write(str(broker.address) + "\\n")

        @judges("CONN-001")
        @needs_broker(Use.DISPOSABLE)
        @pytest.mark.parametrize("passes", [True, False, True, True])
        def test_could_do_harm(broker, passes):
            note(broker)
            with requirement("CONN-001"):
                assert passes
        """
    ).run()
    first, failed, second, third = seen.read_text().splitlines()
    assert (first == failed, failed == second, second == third) == (True, False, True)

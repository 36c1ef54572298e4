"""The contract of :mod:`tests.targets.contract`, on every kind of target."""

import pytest

from tests.targets import kinds
from tests.targets.contract import ExternalContract, TargetContract


class TestKafka(TargetContract):
    name = "kafka"

    @pytest.fixture(autouse=True)
    def _needed(self) -> None:
        kinds.need_kafka()


class TestReference(TargetContract):
    name = "reference"

    @pytest.fixture(autouse=True)
    def _needed(self) -> None:
        kinds.need_reference()


class TestStandIn(TargetContract):
    name = "stand_in"


class TestCommandAtPort(TargetContract):
    name = "command_at_port"


class TestCommandThatStores(TargetContract):
    name = "command_that_stores"


class TestCommandThatTells(TargetContract):
    name = "command_that_tells"


class TestExternal(ExternalContract):
    pass

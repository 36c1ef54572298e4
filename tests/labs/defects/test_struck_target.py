"""The target of a run stands behind its defect, and nothing of it reaches the next run."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from harness.client.connection import Connection
from harness.client.errors import ResponseTimeout
from harness.codec.messages import ApiVersionsRequest, ApiVersionsResponse
from harness.proxies import FrameRule, SeenRequest
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.defects.defect import Defect, Where, WrongFunction
from labs.defects.one_client import is_from
from labs.defects.struck_target import BrokenRule, StruckTargets

CLIENT = "of-this-test"


class CountsAnswers(FrameRule):
    """Changes nothing."""

    def __init__(self) -> None:
        self.seen = 0

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        self.seen += 1
        return [payload]


class KeepsAnswers(FrameRule):
    """One client gets no answers."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [] if is_from(seen, CLIENT) else [payload]


class Raises(FrameRule):
    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        raise ValueError("of this test")


def defect(rule: type[FrameRule]) -> Defect:
    return Defect("of_this_test", "APIV-001", "", rule, "a test's")


@pytest.fixture(name="targets", scope="module")
def _targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StruckTargets]:
    with parse_target("reference", log_dir=tmp_path_factory.mktemp("logs")) as broker:
        yield StruckTargets("reference", tuple(broker.addresses), lambda: None)


def asked(target: Target, timeout_ms: float = 30_000) -> ApiVersionsResponse:
    with Connection(target.addresses[0], CLIENT, timeout_ms) as connection:
        return connection.ask(ApiVersionsRequest(), 0)


def test_end_of_run_closes_connections_and_listener(targets: StruckTargets) -> None:
    with targets.under(Where.SHARED, None) as make, make(None) as target:
        connected = socket.create_connection(target.addresses[0], timeout=5)
        address = target.addresses[0]
    with connected:
        assert connected.recv(1) == b"", "the proxy closes what is open"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5)


def test_each_run_gets_new_rule_instance(targets: StruckTargets) -> None:
    made: list[CountsAnswers] = []

    class Noted(CountsAnswers):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    for _ in range(2):
        with targets.under(Where.SHARED, defect(Noted)) as make, make(None) as target:
            asked(target)
    first, second = made
    assert first.seen == second.seen > 0


def test_run_without_defect_is_unaffected_by_previous_defect(targets: StruckTargets) -> None:
    with targets.under(Where.SHARED, defect(KeepsAnswers)) as make, make(None) as target:
        with pytest.raises(ResponseTimeout):
            asked(target, timeout_ms=50)
    with targets.under(Where.SHARED, None) as make, make(None) as target:
        assert asked(target).api_keys


def test_rule_that_raises_ends_run_with_broken_rule(targets: StruckTargets) -> None:
    with pytest.raises(BrokenRule, match="of this test"):
        with targets.under(Where.SHARED, defect(Raises)) as make, make(None) as target:
            asked(target)


def test_wrong_function_replaces_imported_references() -> None:
    origin, importer = ModuleType("origin_of_this_test"), ModuleType("importer_of_this_test")

    def right() -> str:
        return "right"

    origin.right = importer.called = right  # type: ignore[attr-defined]
    modules = {module.__name__: module for module in (origin, importer)}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        WrongFunction("origin_of_this_test", "right", lambda _: lambda: "wrong").put_everywhere()
    assert origin.right() == importer.called() == "wrong"


def test_private_run_starts_broker_and_shared_run_lacks_capability(
    targets: StruckTargets, tmp_path: Path
) -> None:
    with targets.under(Where.SHARED, None) as make:
        assert "own_broker" not in make(tmp_path).capabilities
    with targets.under(Where.PRIVATE, None) as make, make(tmp_path).start_another() as private:
        assert asked(private).api_keys

"""The common faults before a target: each has the effect of its sentence, and counts it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed, ResponseTimeout
from harness.codec.messages import ApiVersionsRequest, MetadataRequest
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.rules import RuleDidNotFire, RuleError, responses
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.fault import Fault
from harness.targets.fault_sentences import FaultSentences
from harness.targets.ports import free_ports
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.reference import ReferenceBroker
from harness.targets.target import Target
from tests.reference_broker.running import running_broker

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/fixtures.md"
SHORT_MS = 400  # for what must not come
NOT_THE_LEADER = 6


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with ReferenceBroker(log_dir=tmp_path_factory.mktemp("logs")) as running:
        yield running


@pytest.fixture
def behind(target: Target) -> Iterator[ProxiedTarget]:
    with proxied(target) as found:
        yield found
        assert [proxy.errors for proxy in found.proxies if proxy.errors] == []


def ask(behind: ProxiedTarget, timeout_ms: float = 10_000) -> int:
    """The error code of one answer on a new connection."""
    with Connection(behind.addresses[0], timeout_ms=timeout_ms) as connection:
        return connection.ask(ApiVersionsRequest(), 2).error_code


Inject = Callable[[ProxiedTarget], Fault]
SILENT: dict[str, Inject] = {
    "drop requests": lambda behind: behind.drop_requests("ApiVersions"),
    "drop answers": lambda behind: behind.drop_answers("ApiVersions", "Metadata"),
    "cut": lambda behind: behind.cut(),
    "cut the node": lambda behind: behind.cut(1),
    "cut what comes back": lambda behind: behind.cut(direction=Direction.DOWNSTREAM),
}
CLOSED: dict[str, Inject] = {
    "close at requests": lambda behind: behind.close_at_requests("ApiVersions"),
    "close at answers": lambda behind: behind.close_at_answers("ApiVersions"),
}
LATE: dict[str, Inject] = {
    "delay requests": lambda behind: behind.delay_requests("ApiVersions", by_ms=300),
    "delay answers": lambda behind: behind.delay_answers(by_ms=300),
    "delay": lambda behind: behind.delay(300),
    "slow down": lambda behind: behind.slow_down(1, kb_per_s=0.2),
}


@pytest.mark.parametrize("inject", SILENT.values(), ids=list(SILENT))
def test_silencing_fault_times_out_until_healed(behind: ProxiedTarget, inject: Inject) -> None:
    inject(behind)
    with pytest.raises(ResponseTimeout):
        ask(behind, SHORT_MS)
    behind.expect_fired()
    behind.heal()
    assert ask(behind) == 0
    behind.expect_fired()  # what was healed has fired all the same


@pytest.mark.parametrize("inject", CLOSED.values(), ids=list(CLOSED))
def test_closing_fault_closes_connection_until_healed(
    behind: ProxiedTarget, inject: Inject
) -> None:
    fault = inject(behind)
    with pytest.raises(ConnectionClosed):
        ask(behind)
    behind.expect_fired(fault)
    behind.heal()
    assert ask(behind) == 0


@pytest.mark.parametrize("inject", LATE.values(), ids=list(LATE))
def test_delaying_fault_delays_response_until_healed(behind: ProxiedTarget, inject: Inject) -> None:
    inject(behind)
    began_s = time.monotonic()
    assert ask(behind) == 0
    assert time.monotonic() - began_s >= 0.3
    behind.expect_fired()
    behind.heal()
    assert not any(proxy.toxics for proxy in behind.proxies)


def test_refused_requests_and_failed_responses_return_given_errors(behind: ProxiedTarget) -> None:
    behind.refuse_requests("ApiVersions", error="UNSUPPORTED_VERSION", first=1)
    behind.fail_answers("ApiVersions", error=NOT_THE_LEADER, first=1)
    assert [ask(behind) for _ in range(3)] == [35, NOT_THE_LEADER, 0]
    behind.expect_fired()


def test_dropped_response_was_sent_by_broker(
    behind: ProxiedTarget,
) -> None:
    (proxy,) = behind.proxies
    behind.drop_answers("ApiVersions", first=1)
    with pytest.raises(ResponseTimeout):
        ask(behind, SHORT_MS)
    assert proxy.counters.downstream.frames == 1
    assert ask(behind) == 0


def test_request_held_by_cut_is_answered_after_heal(behind: ProxiedTarget) -> None:
    with Connection(behind.addresses[0]) as connection:
        behind.cut()
        connection.send(ApiVersionsRequest(), 2)
        with pytest.raises(ResponseTimeout):
            connection.receive(SHORT_MS)
        behind.heal()
        connection.receive()


def test_reset_closes_connections_and_refuse_rejects_new_ones(behind: ProxiedTarget) -> None:
    with Connection(behind.addresses[0]) as connection:
        connection.ask(ApiVersionsRequest(), 2)
        behind.reset()
        with pytest.raises(ConnectionClosed):
            connection.ask(ApiVersionsRequest(), 2)
    behind.expect_fired()
    behind.refuse(1)
    with pytest.raises(ConnectionClosed, match="cannot connect"):
        ask(behind)
    behind.heal()
    assert ask(behind) == 0


NOTHING_PASSED: dict[str, Inject] = {
    **SILENT,
    **CLOSED,
    **LATE,
    "reset": lambda behind: behind.reset(),
    "arm": lambda behind: behind.arm(responses("Produce").topic("orders").nth(2).duplicate()),
}


@pytest.mark.parametrize("inject", NOTHING_PASSED.values(), ids=list(NOTHING_PASSED))
def test_fault_without_effect_fails_expect_fired(behind: ProxiedTarget, inject: Inject) -> None:
    fault = inject(behind)
    with pytest.raises(RuleDidNotFire, match="did nothing: "):
        behind.expect_fired()
    behind.heal()
    assert ask(behind) == 0  # too late for it
    with pytest.raises(RuleDidNotFire, match="did nothing: ") as caught:
        behind.expect_fired(fault)
    assert f'the fault "{fault}"' in str(caught.value)


def test_expect_fired_checks_number_of_firings(behind: ProxiedTarget) -> None:
    with pytest.raises(RuleDidNotFire, match="no fault was injected that can be counted"):
        behind.expect_fired()
    slow = behind.delay_answers("ApiVersions", by_ms=1)
    ask(behind)
    behind.expect_fired(slow)
    with pytest.raises(RuleDidNotFire, match="fired 1 times, not 2"):
        behind.expect_fired(at_least=2)


def test_faults_can_be_repeated_and_combined(behind: ProxiedTarget) -> None:
    for _ in range(2):
        behind.drop_answers("ApiVersions")
        with pytest.raises(ResponseTimeout):
            ask(behind, SHORT_MS)
        behind.expect_fired()
        behind.heal()
    behind.delay(1)
    behind.delay(1, 1, jitter_ms=1)
    assert ask(behind) == 0
    assert sum(len(proxy.toxics) for proxy in behind.proxies) == 2


def test_invalid_fault_arguments_raise_errors_with_suggestion(behind: ProxiedTarget) -> None:
    with pytest.raises(RuleError, match='did you mean "Produce"'):
        behind.drop_answers("Prodce")
    with pytest.raises(RuleError, match='did you mean "topic"'):
        behind.drop_answers("Produce", topc="orders")
    with pytest.raises(TargetError, match="has no broker 7"):
        behind.cut(7)
    assert ask(behind) == 0


def test_fault_events_are_kept_and_passed_to_listener(target: Target) -> None:
    heard: list[object] = []
    with proxied(target, tell=heard.append) as behind:
        behind.drop_answers("ApiVersions")
        behind.cut()
        behind.heal()
        assert [event.what for event in behind.events] == ["armed", "cut", "disarmed", "healed"]
        assert list(behind.events) == heard
        assert behind.bootstrap == str(behind.addresses[0])


def test_rules_with_custom_interceptor_raise_type_error(target: Target) -> None:
    with proxied(target, interceptor=Interceptor()) as behind:
        with pytest.raises(TypeError, match="an interceptor of their own"):
            behind.drop_answers("Produce")
        behind.cut()
        with pytest.raises(ResponseTimeout):
            ask(behind, SHORT_MS)
        behind.heal()
        assert ask(behind) == 0


def test_fault_applies_to_broker_found_later() -> None:
    (port,) = free_ports(1)
    settings = {"advertised.listeners": f"PLAINTEXT://localhost:{port}"}
    with (
        running_broker(settings, port),
        ExternalBroker([Address("127.0.0.1", port)]) as target,
        proxied(target) as behind,
    ):
        behind.delay(300)
        with Connection(behind.addresses[0]) as connection:
            (told,) = connection.ask(MetadataRequest(), 12).brokers
        assert (told.host, told.port) != behind.addresses[0]
        assert [len(proxy.toxics) for proxy in behind.proxies] == [1, 1]
        began_s = time.monotonic()
        with Connection((told.host, told.port)) as later:
            later.ask(ApiVersionsRequest(), 2)
        assert time.monotonic() - began_s >= 0.3
        behind.heal()
        assert [len(proxy.toxics) for proxy in behind.proxies] == [0, 0]


def test_document_example_runs_and_table_lists_all_faults(behind: ProxiedTarget) -> None:
    """The example in the document works, and its table has all sentences."""
    section = DOCUMENT.read_text("utf-8").split("## Faults on the way to the broker\n")[1]
    example = section.split("```python\n")[1].split("```")[0]
    there: dict[str, Any] = {}
    exec(compile(example, str(DOCUMENT), "exec"), there)
    there["test_a_lost_answer_is_asked_for_again"](behind)
    table = section.split("| sentence |")[1].split("\n\n")[0]
    shown = set(re.findall(r"(?:behind\.|, `)(\w+)", table))
    assert shown == {name for name in vars(FaultSentences) if name[0] != "_"} - {
        "proxies",
        "proxy_of",
    }

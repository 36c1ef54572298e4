"""Tests share a private broker if they use it alike and, if it is tuned, have its settings."""

from __future__ import annotations

from dataclasses import replace

from harness.runner.broker_request import BrokerRequest, Use
from harness.runner.brokers.broker_pool import BrokerPool
from tests.runner.test_pooled_broker import Counted

OFTEN = BrokerRequest(Use.TUNED, {"log.retention.check.interval.ms": "300"})
SELDOM = BrokerRequest(Use.TUNED, {"log.cleaner.backoff.ms": "9000"})
DISPOSABLE, JOINABLE = BrokerRequest(Use.DISPOSABLE), BrokerRequest(Use.JOINABLE)


def test_tuned_broker_is_shared_while_settings_are_equal() -> None:
    started: list[Counted] = []
    pool, like = BrokerPool(), Counted(started)
    first = pool.acquire(OFTEN, lambda: like)
    assert pool.acquire(replace(OFTEN), lambda: like) is first
    second = pool.acquire(SELDOM, lambda: like)
    assert second is not first
    assert [broker.settings for broker in started] == [OFTEN.settings, SELDOM.settings]
    assert (first.is_alive(), second.is_alive()) == (False, True)
    pool.stop()
    assert not second.is_alive()


def test_each_use_gets_separate_broker() -> None:
    started: list[Counted] = []
    like = Counted(started)
    like.capabilities |= {"join_as_broker"}
    pool = BrokerPool()
    brokers = [pool.acquire(one, lambda: like) for one in (OFTEN, DISPOSABLE, JOINABLE)]
    assert len({*map(id, brokers)}) == 3
    pool.stop()
    pool.stop()
    assert not any(broker.alive for broker in started)


def test_replaced_broker_is_not_reused() -> None:
    started: list[Counted] = []
    pool, like = BrokerPool(), Counted(started)
    first = pool.acquire(DISPOSABLE, lambda: like)
    other = pool.acquire(OFTEN, lambda: like)
    pool.replace(Use.DISPOSABLE)
    second = pool.acquire(DISPOSABLE, lambda: like)
    assert (first.is_alive(), second.is_alive()) == (False, True)
    assert pool.acquire(replace(OFTEN), lambda: like) is other
    pool.stop()

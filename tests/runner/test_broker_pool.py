"""Tests share a private broker if they have the same mark and, if it is tuned, settings."""

from __future__ import annotations

from harness.runner.brokers.broker_pool import MARKS, LentBrokers
from tests.runner.test_disposable_broker import Counted

OFTEN, SELDOM = {"log.retention.check.interval.ms": "300"}, {"log.cleaner.backoff.ms": "9000"}


def test_tuned_brokers_are_shared_while_the_settings_are_the_same() -> None:
    started: list[Counted] = []
    lent, like = LentBrokers(), Counted(started)
    first = lent.lend("tuned_broker", OFTEN, lambda: like)
    assert lent.lend("tuned_broker", dict(OFTEN), lambda: like) is first
    second = lent.lend("tuned_broker", SELDOM, lambda: like)
    assert second is not first
    assert [broker.settings for broker in started] == [OFTEN, SELDOM]
    assert (first.is_alive(), second.is_alive()) == (False, True)
    lent.stop()
    assert not second.is_alive()


def test_a_mark_has_a_broker_of_its_own() -> None:
    started: list[Counted] = []
    like = Counted(started)
    like.capabilities |= {"join_as_broker"}
    lent = LentBrokers()
    brokers = [lent.lend(mark, {}, lambda: like) for mark in MARKS]
    assert len({*map(id, brokers)}) == len(MARKS)
    lent.stop()
    lent.stop()
    assert not any(broker.alive for broker in started)


def test_a_broker_that_was_replaced_is_not_lent_again() -> None:
    started: list[Counted] = []
    lent, like = LentBrokers(), Counted(started)
    first = lent.lend("discarded_broker", {}, lambda: like)
    other = lent.lend("tuned_broker", OFTEN, lambda: like)
    lent.replace("discarded_broker")
    second = lent.lend("discarded_broker", {}, lambda: like)
    assert (first.is_alive(), second.is_alive()) == (False, True)
    assert lent.lend("tuned_broker", dict(OFTEN), lambda: like) is other
    lent.stop()

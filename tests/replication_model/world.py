"""A controller, brokers, what is on its way between them, and a clock that is set by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from harness.codec.error_code import ErrorCode
from harness.ids import BrokerId, Offset, TimeMs
from harness.reference_broker.state.partition import Partition
from harness.reference_broker.state.stored_batch import StoredBatch
from tests.replication_model.broker import Broker
from tests.replication_model.controller import Controller
from tests.replication_model.network import (
    FetchAnswered,
    FetchAsked,
    OnItsWay,
    Proposed,
    Settled,
    judge,
    read_for,
    take_fetched,
    take_settled,
)

_BEGIN = TimeMs(1_700_000_000_000)
_One = TypeVar("_One")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an example begins with. `unclean`: as the topic's config; `asks_unclean`: as somebody
    may ask the controller all the same."""

    brokers: int = 3
    replicas: int = 3
    min_insync: int = 1
    keeps_eligible: bool = True
    unclean: bool = False
    asks_unclean: bool = False
    loses_tails: bool = False


@dataclass(slots=True)
class Waiting:
    """A produce with acks=all that has no answer yet."""

    partition: Partition
    required: Offset
    batches: list[StoredBatch]


class World:
    """Who is there, and what clients were told: `acknowledged`."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.now = plan, _BEGIN
        self.controller = Controller(self.now, keeps_eligible=plan.keeps_eligible)
        self.brokers = [Broker(number) for number in range(1, plan.brokers + 1)]
        self.on_its_way: list[OnItsWay] = []
        self.waiting: list[Waiting] = []
        self.acknowledged: list[StoredBatch] = []
        self.produced = 0
        for broker in self.brokers:
            assert broker.start(self.controller, self.now)
        self.beat()
        configs = {
            "min.insync.replicas": str(plan.min_insync),
            "unclean.leader.election.enable": str(plan.unclean).lower(),
        }
        replicas = range(1, plan.replicas + 1)
        self.controller.create_topic([*replicas], configs, self.now)
        for broker in self.alive:
            self.read_all(broker)

    @property
    def alive(self) -> list[Broker]:
        """Those whose process is there."""
        return [one for one in self.brokers if one.state is not None]

    def broker(self, broker_id: BrokerId) -> Broker:
        """By its id."""
        return self.brokers[broker_id - 1]

    def read_all(self, broker: Broker) -> None:
        """A broker reads all metadata that there is."""
        broker.read_metadata(self.controller, len(self.controller.written), self.now)

    def beat(self) -> None:
        """All that can, read nothing and send a heartbeat, twice: the first may unfence them."""
        for broker in self.alive:
            if not broker.silent:
                self.heartbeat(broker)

    def heartbeat(self, broker: Broker) -> None:
        """One heartbeat; who may go is gone."""
        answer = broker.heartbeat(self.controller, self.now)
        if answer.error_code == ErrorCode.NONE and answer.should_shut_down:
            broker.end()

    def deliver(self, message: OnItsWay) -> OnItsWay | None:
        """Let one message arrive; what is answered."""
        match message:
            case FetchAsked():
                return read_for(message, self.broker(message.leader), self.now)
            case FetchAnswered():
                take_fetched(message, self.now)
            case Proposed():
                return judge(message, self.controller, self.now)
            case Settled():
                take_settled(message, self.now)
        return None

    def deliver_with_answer(self, message: OnItsWay) -> None:
        """Let it arrive, and its answer."""
        answer = self.deliver(message)
        if answer is not None:
            self.deliver(answer)

    def settle_produces(self) -> None:
        """Answer what can be answered, as the handler of Produce does."""
        left = []
        for one in self.waiting:
            outcome = one.partition.replicated(one.required)
            if outcome is None:
                left.append(one)
            elif outcome is ErrorCode.NONE and self._is_running(one.partition):
                self.acknowledged += one.batches
        self.waiting = left

    def _is_running(self, partition: Partition) -> bool:
        return any(one.partition is partition for one in self.brokers)


def pick(candidates: list[_One], number: int) -> _One | None:
    """One of them, by any number."""
    return candidates[number % len(candidates)] if candidates else None

"""A controller, brokers, the messages on their way, and a clock that rules set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from harness.base.ids import BrokerId, Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.partition.partition import Partition
from labs.replication_model.broker import Broker
from labs.replication_model.controller import ModelController
from labs.replication_model.network import (
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
class WorldPlan:
    """The beginning of an example.

    `unclean`: the topic's config; `asks_unclean`: clients may request unclean elections from the
    controller even without it.
    """

    brokers: int = 3
    replicas: int = 3
    min_insync: int = 1
    keeps_eligible: bool = True
    unclean: bool = False
    asks_unclean: bool = False
    loses_tails: bool = False


@dataclass(slots=True)
class WaitingFetch:
    """A Produce request with acks=all that has no answer yet."""

    partition: Partition
    required: Offset
    batches: list[StoredBatch]


class ModelWorld:
    """The controller, the brokers, and the records acknowledged to clients: `acknowledged`."""

    def __init__(self, plan: WorldPlan) -> None:
        self.plan, self.now = plan, _BEGIN
        self.controller = ModelController(self.now, keeps_eligible=plan.keeps_eligible)
        self.brokers = [Broker(number) for number in range(1, plan.brokers + 1)]
        self.on_its_way: list[OnItsWay] = []
        self.waiting: list[WaitingFetch] = []
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
        """The brokers with a running process."""
        return [one for one in self.brokers if one.state is not None]

    def broker(self, broker_id: BrokerId) -> Broker:
        """Return the broker with this id."""
        return self.brokers[broker_id - 1]

    def read_all(self, broker: Broker) -> None:
        """A broker reads all metadata that there is."""
        broker.read_metadata(self.controller, len(self.controller.written), self.now)

    def beat(self) -> None:
        """Each broker with a process sends a heartbeat, if it is not silent."""
        for broker in self.alive:
            if not broker.silent:
                self.heartbeat(broker)

    def heartbeat(self, broker: Broker) -> None:
        """Send one heartbeat; a broker that may shut down ends."""
        answer = broker.heartbeat(self.controller, self.now)
        if answer.error_code == ErrorCode.NONE and answer.should_shut_down:
            broker.end()

    def deliver(self, message: OnItsWay) -> OnItsWay | None:
        """Deliver one message and return its answer."""
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
        """Deliver a message and its answer."""
        answer = self.deliver(message)
        if answer is not None:
            self.deliver(answer)

    def settle_produces(self) -> None:
        """Answer the Produce requests that can be answered, as the handler of Produce does."""
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
    """Return one of the elements, chosen by any number; None without elements."""
    return candidates[number % len(candidates)] if candidates else None

"""The clients of a run: producers and consumers of one family, all through the proxies."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Protocol

from harness.base.address import Address
from harness.client.requests import Topic
from harness.targets.asking import ask_api_versions
from harness.targets.proxied import ProxiedTarget
from harness.targets.target import Target
from labs.crash_loops.stage import ASK_MS
from labs.transaction_histories.confluent import ConfluentProducer, ConfluentReader
from labs.transaction_histories.java import JavaProducer, JavaReader, sessions
from labs.transaction_histories.library_reader import Ends
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.producer import WireProducer
from labs.transaction_histories.reader import CONSUMER, CommittedReader, committed_ends
from labs.transaction_histories.wire import ClientWire
from labs.transaction_histories.workloads import PARTITIONS, OffsetsClient

OWN, CONFLUENT, KAFKA_PYTHON, JAVA = "own", "confluent-kafka", "kafka-python", "java"
CLIENTS = (OWN, CONFLUENT, KAFKA_PYTHON, JAVA)
NEGOTIATES_NEWER = (OWN, JAVA)
"""The families that have the newer form of transactions (KIP-890, part 2)."""


class HistoryReader(Protocol):
    """A consumer of all partitions."""

    def run(self, stop: Event) -> None: ...


class RunWires:
    """Makes the connections of each thread."""

    def __init__(self, target: Target, behind: ProxiedTarget, topic: Topic) -> None:
        self._addresses: Mapping[int, Address] = {
            node: behind.address_of(node) for node in target.nodes
        }
        self._versions = ask_api_versions(target.addresses[0], ASK_MS)
        self._topic, self._made = topic, list[ClientWire]()

    def new(self, client_id: str) -> ClientWire:
        made = ClientWire(self._addresses, self._versions, self._topic, client_id)
        self._made.append(made)
        return made

    @property
    def bootstrap(self) -> str:
        """The addresses as clients of other people take them."""
        return ",".join(map(str, self._addresses.values()))

    @property
    def topic(self) -> str:
        return self._topic.name

    def close(self) -> None:
        for wire in self._made:
            wire.close()


@dataclass(frozen=True, slots=True)
class ClientFamily:
    """``producer``: with a name, which is its process in the history."""

    producer: Callable[[str], OffsetsClient]
    reader: Callable[[], HistoryReader]


@dataclass(frozen=True, slots=True)
class FamilyNeeds:
    """``newer``: the form of transactions of the own client. ``opened``: ends with the run."""

    wires: RunWires
    notes: TransactionNotes
    newer: bool
    read_s: float
    opened: ExitStack


def family(name: str, needs: FamilyNeeds) -> ClientFamily:
    """Return the clients of a family. Raises KeyError."""
    make = {OWN: _own, CONFLUENT: _confluent, KAFKA_PYTHON: _kafka_python, JAVA: _java}
    return make[name](needs)


def _own(needs: FamilyNeeds) -> ClientFamily:
    wires, notes = needs.wires, needs.notes
    return ClientFamily(
        lambda name: WireProducer(name, wires.new(name), notes, newer=needs.newer),
        lambda: CommittedReader(wires.new(CONSUMER), notes, PARTITIONS, needs.read_s),
    )


def _confluent(needs: FamilyNeeds) -> ClientFamily:
    wires, notes = needs.wires, needs.notes
    return ClientFamily(
        lambda name: ConfluentProducer(name, wires.bootstrap, wires.topic, notes),
        lambda: ConfluentReader(
            wires.bootstrap, wires.topic, notes, PARTITIONS, _ends(needs), needs.read_s
        ),
    )


def _kafka_python(needs: FamilyNeeds) -> ClientFamily:
    # Its import takes long, and raises warnings of deprecation.
    from labs.transaction_histories.kafka_python import KafkaPythonProducer, KafkaPythonReader

    wires, notes = needs.wires, needs.notes
    return ClientFamily(
        lambda name: KafkaPythonProducer(name, wires.bootstrap, wires.topic, notes),
        lambda: KafkaPythonReader(
            wires.bootstrap, wires.topic, notes, PARTITIONS, _ends(needs), needs.read_s
        ),
    )


def _java(needs: FamilyNeeds) -> ClientFamily:
    wires, notes = needs.wires, needs.notes
    folder = Path(needs.opened.enter_context(tempfile.TemporaryDirectory(prefix="java-")))
    start = sessions(wires.bootstrap, folder, needs.opened)
    return ClientFamily(
        lambda name: JavaProducer(name, wires.topic, notes, start),
        lambda: JavaReader(wires.topic, notes, PARTITIONS, _ends(needs), needs.read_s, start),
    )


def _ends(needs: FamilyNeeds) -> Ends:
    return partial(committed_ends, needs.wires.new(CONSUMER))

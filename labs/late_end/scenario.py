"""The steps of an EndTxn that is late.

A producer ends a transaction, gets no answer and ends it again on another connection, with
success. Its next transaction has written one record when the first EndTxn, which the network had
held back, reaches the coordinator. The transaction then writes another record and ends the other
way. It is whole if the late request is refused, and torn if that ended it.
"""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.connection import Connection
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import EndTxnResponse
from harness.histories.history import ClientAction, OperationOutcome
from harness.histories.judgement import Judgement
from harness.histories.transaction_checker import check_transactions
from harness.proxies.rules import RuleSet, requests
from harness.targets.proxied import ProxiedTarget
from labs.transaction_histories.committed import final_read
from labs.transaction_histories.notes import TransactionNotes
from suites.protocol.support.transactional import NO_ID, TxnProducer

HELD_MS = 60_000
SILENCE_MS = 300
HELD = "the late EndTxn"
INVOKE, OK, FAIL, INFO = OperationOutcome
PRODUCER, PARTITIONS = "producer", 2
FIRST, SECOND, THIRD = "transaction 1, a", "transaction 2, a", "transaction 2, b"


class LateEnd:
    """The steps, with an answer each; ``history`` is judged at the end."""

    def __init__(self, behind: ProxiedTarget, rules: RuleSet, broker: BrokerUnderTest) -> None:
        self._behind, self._rules, self._broker = behind, rules, broker
        self.notes = TransactionNotes()
        self.steps: list[str] = []

    def play(self, *, newer: bool, late_commit: bool) -> Judgement:
        """Return the judgement. ``late_commit``: the late request commits, else it aborts."""
        hold = requests("EndTxn").first().named(HELD).hold(at_most_ms=HELD_MS)
        self._behind.net.call(self._rules.arm, hold)
        topic = self._broker.create_topic(partitions=PARTITIONS)
        producer = TxnProducer(self._broker, "late-end", newer=newer)
        self._begin("transaction 1")
        self._write(producer, topic, 0, FIRST)
        late = self._end_twice(producer, late_commit)
        self._begin("transaction 2")
        self._write(producer, topic, 0, SECOND)
        self._behind.net.call(self._rules.release, HELD)
        answer = late.receive()
        assert isinstance(answer, EndTxnResponse)
        self._step(f"the late EndTxn arrives: {ErrorCode.describe(answer.error_code)}")
        self._write(producer, topic, 1, THIRD)
        self._end(producer, commit=not late_commit)
        final_read(lambda _: self._broker, topic, PARTITIONS, self.notes)
        return check_transactions(self.notes.history)

    def _step(self, what: str) -> None:
        self.steps.append(what)

    def _begin(self, name: str) -> None:
        self.notes.add(PRODUCER, OK, ClientAction.BEGIN, value=name)

    def _write(self, producer: TxnProducer, topic: Topic, partition: int, value: str) -> None:
        send = (ClientAction.SEND, partition)
        self.notes.add(PRODUCER, INVOKE, *send, value=value)
        try:
            offset = producer.write(topic, value.encode(), partition=partition)
        except PreparationFailed as refused:
            self.notes.add(PRODUCER, FAIL, *send, value=value, detail=str(refused))
            self._step(f"{value}, partition {partition}: {refused}")
        else:
            self.notes.add(PRODUCER, OK, *send, offset, value)
            self._step(f"{value}, partition {partition}: at offset {offset}")

    def _end_twice(self, producer: TxnProducer, commit: bool) -> Connection:
        """Return the connection on which the first EndTxn of the transaction is held back."""
        late = self._broker.connect("late-end", through=self._behind.addresses[0])
        late.send(producer.end_request(commit), producer.version("EndTxn"))
        late.expect_silence(SILENCE_MS)
        self._step(f"EndTxn, {_way(commit)}: no answer; it is sent again on another connection")
        self._end(producer, commit=commit)
        return late

    def _end(self, producer: TxnProducer, *, commit: bool) -> None:
        action = ClientAction.COMMIT if commit else ClientAction.ABORT
        self.notes.add(PRODUCER, INVOKE, action)
        answer = producer.end(commit=commit)
        said = ErrorCode.describe(answer.error_code)
        ended = answer.error_code == ErrorCode.NONE
        self.notes.add(PRODUCER, OK if ended else FAIL, action, detail=said)
        self._step(f"EndTxn, {_way(commit)}: {said}")
        producer.partitions.clear()
        if answer.producer_epoch != NO_ID:
            producer.take(answer)


def _way(commit: bool) -> str:
    return "commit" if commit else "abort"

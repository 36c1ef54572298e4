"""Transactional clients under faults: a cheap run, the faults of a seed, what a consumer takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.codec.messages import FetchResponse
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.histories.history import ClientAction, OperationOutcome, from_lines
from labs.transaction_histories.__main__ import main
from labs.transaction_histories.client_families import CLIENTS, OWN
from labs.transaction_histories.committed import delivered
from labs.transaction_histories.nemesis import KINDS, LATE, LOST, RESET, plan
from labs.transaction_histories.plant import find
from labs.transaction_histories.planted_bugs import PLANTED, PlantedBug
from labs.transaction_histories.workloads import amount_of
from tests.targets.kinds import need_kafka

NODES = [1, 2, 3]
TICKET = re.compile(r"KAFKA-\d+|(redpanda|kop)#\d+")


def _run(out: Path, *words: str) -> str:
    ended = CliRunner().invoke(main, [*words, "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_transforms_through_lost_answers_are_valid(tmp_path: Path) -> None:
    words = ("--target", "reference", "--workload", "transforms", "--faults", "2")
    _run(tmp_path, *words, "--kind", LOST, "--kind", RESET)
    (path,) = tmp_path.iterdir()
    history = list(from_lines(path.read_text("utf-8").splitlines()))
    ok = [one.action for one in history if one.outcome is OperationOutcome.OK]
    few = {action: ok.count(action) for action in ClientAction if ok.count(action) < 4}
    assert set(few) == {ClientAction.FAULT, ClientAction.FINISH}, few


def test_each_planted_bug_names_a_ticket_of_its_kind() -> None:
    tickets = {bug.name: bug.ticket for bug in PLANTED}
    assert [name for name, ticket in tickets.items() if not TICKET.fullmatch(ticket)] == []
    assert len(tickets) == len(PLANTED) == 20


@pytest.mark.slow
@pytest.mark.rotates(20)
@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, marks=[] if bug.name == "a_commit_is_an_abort" else pytest.mark.deep)
        for bug in PLANTED
    ],
    ids=lambda bug: bug.name,
)
def test_planted_bug_is_found_within_its_operations(bug: PlantedBug) -> None:
    found = find(bug, seed=1)
    assert found.is_found, found.row()


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("target", ["reference,nodes=3", "reference,like=2.8.2"])
def test_all_workloads_through_drawn_faults_are_valid(target: str, tmp_path: Path) -> None:
    assert _run(tmp_path, "--target", target, "--seed", "5").count(": valid") == 3


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # kafka-python at its import
@pytest.mark.parametrize("client", [name for name in CLIENTS if name != OWN])
def test_workloads_by_client_libraries_are_valid(client: str, tmp_path: Path) -> None:
    words = ("--target", "reference,nodes=3", "--client", client, "--seed", "5")
    assert _run(tmp_path, *words).count(": valid") == 3


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("target", ["kafka:4.4.0", "kafka:2.8.2"])
def test_real_kafka_keeps_its_promises_to_transactional_clients(
    target: str, tmp_path: Path
) -> None:
    need_kafka()
    assert _run(tmp_path, "--target", target, "--seed", "5").count(": valid") == 3


def test_faults_of_a_seed_are_always_the_same() -> None:
    assert plan("7", 50, NODES, KINDS) == plan("7", 50, NODES, KINDS)
    drawn = plan("7", 200, NODES, KINDS)
    assert {fault.kind for fault in drawn} == set(KINDS)
    assert {fault.kind for fault in plan("7", 20, NODES, [LATE])} == {LATE}


def test_amount_of_a_transfer_has_its_sign() -> None:
    assert [amount_of("p-1.out:-5"), amount_of("p-1.in:5")] == [-5, 5]


def _batch(producer: int, offset: int, *values: bytes, control: bool = False) -> bytes:
    attributes = TRANSACTIONAL | (CONTROL if control else 0)
    key = b"\x00\x00\x00\x00" if control else None
    return encode_batch(
        RecordBatch(
            [Record(value, key) for value in values],
            base_offset=offset,
            attributes=attributes,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=-1 if control else 0,
        )
    )


def test_consumer_leaves_out_markers_and_aborted_records() -> None:
    """Producer 1 aborts a transaction and then commits one; producer 2 commits between."""
    aborted = FetchResponse.AbortedTransaction(producer_id=1, first_offset=0)
    log = [
        _batch(1, 0, b"a", b"b"), _batch(2, 2, b"c"), _batch(1, 3, b"m", control=True),
        _batch(1, 4, b"d"), _batch(2, 5, b"m", control=True), _batch(1, 6, b"m", control=True),
    ]  # fmt: skip
    answer = FetchResponse.PartitionData(
        aborted_transactions=[aborted], records=b"".join(log), last_stable_offset=7
    )
    assert delivered(answer, 0) == ([(2, "c"), (4, "d")], 7)
    assert delivered(answer, 3) == ([(4, "d")], 7)
    answer.aborted_transactions = []
    assert delivered(answer, 1).records == [(1, "b"), (2, "c"), (4, "d")]
    answer.records = b""
    assert delivered(answer, 5) == ([], 5)

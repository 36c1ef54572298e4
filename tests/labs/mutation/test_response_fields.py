"""Mutants of responses: one for each field and change; the other responses stay as they are."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness.codec.messages import DescribeClusterResponse, MetadataResponse
from labs.mutation import unread_fields
from labs.mutation.code_swap import NoSuchMutant
from labs.mutation.mutant import Mutant
from labs.mutation.response_fields import (
    DEFAULT,
    NULL,
    OTHER,
    field_mutants,
    is_about,
    put_field_in_place,
    with_change,
)
from labs.mutation.unread_fields import UnreadField, problems
from labs.mutation.verdicts import Fate, JudgedMutant

DESCRIBE_CLUSTER = "harness.reference_broker.handlers.api_60_describe_cluster"
PROGRAM = """
import json, sys
from harness.base.address import Address
from harness.client.connection import Connection
from harness.codec.messages import ApiVersionsRequest, DescribeClusterRequest
from harness.oracle.specification import Specification
from labs.mutation.response_fields import put_field_in_place
put_field_in_place(sys.argv[1])
with Specification("", {}) as broker:
    client = Connection(broker.address, timeout_ms=5000)
    cluster = client.ask(DescribeClusterRequest(), 0, tolerant=True)
    versions = client.ask(ApiVersionsRequest(), 0)
    client.close()
print(json.dumps([cluster.controller_id, cluster.error_code, versions.error_code]))
"""


def mutant_of(path: str, change: str) -> Mutant:
    found = [one for one in field_mutants() if one.module == DESCRIBE_CLUSTER]
    return next(one for one in found if (one.function, one.after) == (path, change))


def test_names_are_unique_and_each_change_occurs() -> None:
    every = field_mutants()
    assert len({one.name for one in every}) == len(every)
    assert {one.after for one in every} == {OTHER, DEFAULT, NULL}
    paths = {one.function for one in every if one.module == DESCRIBE_CLUSTER}
    assert {"controller_id", "brokers.rack"} <= paths


def test_broker_sends_the_changed_field_and_no_other() -> None:
    name = mutant_of("controller_id", OTHER).name
    command = [sys.executable, "-c", PROGRAM, name]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == [2, 0, 0]


def test_change_leaves_the_message_of_the_broker_as_it_was() -> None:
    broker = DescribeClusterResponse.DescribeClusterBroker
    right = DescribeClusterResponse(brokers=[broker(broker_id=1, port=1), broker(broker_id=2)])
    wrong = with_change(right, ("brokers", "broker_id"), lambda value: value + 1)
    assert [one.broker_id for one in wrong.brokers] == [2, 3]
    assert [one.broker_id for one in right.brokers] == [1, 2]
    empty = MetadataResponse(topics=[])
    assert with_change(empty, ("topics", "name"), lambda _: "x") == empty


def test_unknown_field_is_refused() -> None:
    with pytest.raises(NoSuchMutant, match="no response has such a field"):
        put_field_in_place("field@handlers.api_60_describe_cluster:999:0#0")


def test_specification_test_of_the_api_comes_first() -> None:
    mutant = mutant_of("controller_id", OTHER)
    folder = "suites/protocol/specification/test_broker.py"
    assert is_about(f"{folder}::test_describe_cluster_responds_as_specification", mutant)
    assert not is_about(f"{folder}::test_describe_configs_responds_as_specification", mutant)


@pytest.mark.parametrize(
    ("fate", "rows", "word"),
    [
        (Fate.SURVIVED, [], "no check notices it"),
        (Fate.SURVIVED, ["controller_id"], ""),
        (Fate.NOTICED, ["controller_id"], "take the row out"),
        (Fate.NOTICED, [], ""),
    ],
)
def test_table_has_exactly_the_fields_that_no_check_notices(
    fate: Fate, rows: list[str], word: str
) -> None:
    mutant = mutant_of("controller_id", OTHER)
    table = [UnreadField(mutant.area_path, path, OTHER, "a reason") for path in rows]
    found = list(problems([JudgedMutant(mutant, fate)], table))
    assert len(found) == bool(word)
    assert all(word in one for one in found)


def test_each_row_of_the_table_is_of_a_mutant_and_has_a_reason() -> None:
    known = {(one.area_path, one.function, one.after) for one in field_mutants()}
    for row in unread_fields.read():
        assert row[:3] in known
        assert row.reason

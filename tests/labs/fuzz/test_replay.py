"""Every committed input once, without a fuzzer: quick, and on every platform."""

from __future__ import annotations

import random

import pytest

from harness.codec.messages import message_names
from labs.fuzz.corpus import failed_inputs, seed_inputs
from labs.fuzz.targets import SHARES, load_target

each_target = pytest.mark.parametrize("name", SHARES)
MUTATIONS = 3


@pytest.mark.rotates(8)
@each_target
def test_every_committed_input_passes_target_check(name: str) -> None:
    target = load_target(name)
    inputs = [*seed_inputs(name), *failed_inputs(name)]
    assert len(inputs) > 20
    for label, data in inputs:
        _check(name, label, data, target.check)


@pytest.mark.rotates(8)
@each_target
def test_mutated_inputs_are_new_and_pass_target_check(name: str) -> None:
    target, chance = load_target(name), random.Random(1)
    inputs = [data for _, data in seed_inputs(name)]
    made = [
        target.repaired(target.mutated(data, chance), chance)
        for data in inputs
        for _ in range(MUTATIONS)
    ]
    assert len(set(made) - set(inputs)) > len(inputs)
    for data in made:
        _check(name, "mutated", data, target.check)


def test_every_message_definition_has_seed_input() -> None:
    """If not: python -m labs.fuzz.seeds messages."""
    seeded = {label.rpartition("-v")[0] for label, _ in seed_inputs("messages")}
    missing = set(message_names()) - seeded
    assert not missing, "python -m labs.fuzz.seeds messages"


def _check(name: str, label: str, data: bytes, check: object) -> None:
    assert callable(check)
    try:
        check(data)
    except BaseException as error:
        error.add_note(f"{name}, input {label}: {data.hex()}")
        raise

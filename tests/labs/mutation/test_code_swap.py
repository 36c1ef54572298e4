"""A mutant in a running program."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from labs.mutation.code_swap import NoSuchMutant, put_in_place
from labs.mutation.enumeration import PACKAGE, modules, mutants_of

MODULE = f"{PACKAGE}.state.groups.group_log"
PROGRAM = """
import json, sys
from harness.reference_broker.state.groups.group_log import java_hash as imported
from labs.mutation.code_swap import put_in_place
import harness.reference_broker.state.groups.group_log as module
before = imported("group")
put_in_place(sys.argv[1])
print(json.dumps([before, imported("group"), module.java_hash("group")]))
"""


def _mutant_of_java_hash() -> str:
    (file,) = [file for module, file in modules() if module == MODULE]
    found = mutants_of(MODULE, file.read_text("utf-8"))
    return next(one.name for one in found if one.function == "java_hash" and one.before == "31")


def test_mutant_replaces_function_that_other_modules_have_imported() -> None:
    command = [sys.executable, "-c", PROGRAM, _mutant_of_java_hash()]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    before, imported, named = json.loads(ended.stdout)
    assert before != imported
    assert imported == named


def test_name_of_another_source_is_refused() -> None:
    with pytest.raises(NoSuchMutant, match="the source has no such place"):
        put_in_place("boundary@state.groups.group_log:1:0#0")

"""The preloading covers the handlers that brokers use."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
from harness.reference_broker import preloading
from harness.reference_broker.handlers.table import CONTROLLER_HANDLERS, MEMBER_HANDLERS
served = [*MEMBER_HANDLERS.values(), *CONTROLLER_HANDLERS.values()]
names = {f"harness.reference_broker.handlers.{one.module}" for one in served}
before = names & set(sys.modules)
preloading.load_everyday()
print(len(names), len(before), len(names & set(sys.modules)))
"""


def test_all_handlers_are_loaded_that_brokers_and_controllers_import_on_first_use() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    served, before, after = map(int, ended.stdout.split())
    assert before < served == after

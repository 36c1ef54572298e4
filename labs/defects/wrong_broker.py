"""``python -m labs.defects.wrong_broker DEFECT OPTION...``: the built-in broker with a wrong
function in it; the options are those of its command."""

from __future__ import annotations

import sys

from harness.reference_broker.command import broker
from labs.defects.wrong_storage import WRONG_STORAGE


def main() -> None:
    """Run the broker. Raises KeyError for an unknown defect."""
    name, *options = sys.argv[1:]
    wrong = {defect.name: defect.wrong for defect in WRONG_STORAGE}[name]
    assert wrong is not None
    wrong.put_in_place()
    broker(options, prog_name=name)


if __name__ == "__main__":
    main()

"""``python -m labs.transaction_histories.wrong_coordinator BUG OPTION...``: the built-in broker
with a planted bug in it; the options are those of its command."""

from __future__ import annotations

import sys

from harness.reference_broker.command import broker
from labs.transaction_histories.planted_bugs import PLANTED


def main() -> None:
    """Run the broker. Raises KeyError for an unknown bug."""
    name, *options = sys.argv[1:]
    {bug.name: bug for bug in PLANTED}[name].wrong.put_everywhere()
    broker(options, prog_name=name)


if __name__ == "__main__":
    main()

"""``python -m bench.storage [--rounds N] [--records N] [--mib N] [--only PART]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from bench.storage import opening, rates, recovery, searching
from bench.storage.table import Found, markdown

ROUNDS, RECORDS, MIB = 15, 100_000, 1024
_Part = Callable[[argparse.Namespace], tuple[list[Found], list[str]]]
PARTS: dict[str, _Part] = {
    "produce": lambda given: (rates.produced_to_disk(given.rounds, given.records), []),
    "consume": lambda given: (rates.consumed_cold(given.rounds, given.records), []),
    "recovery": lambda given: (recovery.measure(given.mib, given.rounds), []),
    "search": lambda given: (searching.measure(given.rounds), []),
    "opening": lambda given: (opening.measure(given.rounds), []),
    "kafka": lambda given: rates.beside_kafka(given.rounds, given.records),
}


def main(arguments: Sequence[str]) -> int:
    """0 when every goal is reached, else 1."""
    parser = argparse.ArgumentParser(prog="python -m bench.storage")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--mib", type=int, default=MIB, help="of the log that is recovered")
    parser.add_argument("--only", choices=PARTS, action="append", help="may be repeated")
    options = parser.parse_args(arguments)
    found: list[Found] = []
    notes: list[str] = []
    for name in options.only or PARTS:
        of_part, told = PARTS[name](options)
        found += of_part
        notes += told
    sys.stdout.write(markdown(found, notes))
    return 0 if all(one.reached for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

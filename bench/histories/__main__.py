"""``python -m bench histories``: seconds to judge a history of this many operations.

A tenth of the history is judged first: the time must grow with the length and not faster.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.histories.transaction_checker import check_transactions

OPERATIONS = 1_000_000
PROCESSES, PARTITIONS, SENDS = 4, 8, 3
OK, INVOKE = OperationOutcome.OK, OperationOutcome.INVOKE
PER_RECORD = 4  # its send, the acknowledgement, a poll, the final read


def history(operations: int) -> list[ClientOperation]:
    """Processes take turns with whole transactions; one consumer reads all at the end."""
    made: list[ClientOperation] = []
    log: defaultdict[int, list[str]] = defaultdict(list)
    for number in range(operations // (PER_RECORD * SENDS + 3)):
        process = f"p{number % PROCESSES}"
        made.append(ClientOperation(process, OK, ClientAction.BEGIN, value=f"t{number}"))
        for send in range(SENDS):
            partition, value = (7 * number + 3 * send) % PARTITIONS, f"{number}.{send}"
            offset = len(log[partition])
            made += [
                ClientOperation(process, INVOKE, ClientAction.SEND, partition, value=value),
                ClientOperation(process, OK, ClientAction.SEND, partition, offset, value),
            ]
            log[partition].append(value)
        made += [ClientOperation(process, how, ClientAction.COMMIT) for how in (INVOKE, OK)]
    for process, action in (("c", ClientAction.POLL), ("r", ClientAction.FINAL_READ)):
        made += [
            ClientOperation(process, OK, action, partition, offset, value)
            for partition, values in log.items()
            for offset, value in enumerate(values)
        ]
    return [*made, ClientOperation("r", OK, ClientAction.FINAL_READ)]


def main(arguments: list[str]) -> int:
    """Print a line for each length."""
    parser = argparse.ArgumentParser(prog="python -m bench histories")
    parser.add_argument("--operations", type=int, default=OPERATIONS)
    wanted: int = parser.parse_args(arguments).operations
    for operations in (wanted // 10, wanted):
        made = history(operations)
        began_s = time.monotonic()
        verdict = check_transactions(made).verdict
        seconds = time.monotonic() - began_s
        each_us = seconds / len(made) * 1e6
        sys.stdout.write(
            f"{len(made)} operations: {verdict}, {seconds:.1f} s, {each_us:.1f} us each\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

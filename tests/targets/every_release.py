"""Every pinned Kafka in each of its modes, started twice and talked to: a table of seconds.

    python -m tests.targets.every_release [--nodes N] [RELEASE[..RELEASE]] ...

Without releases it tries all of them, in some minutes. Exits with 1 when one of them failed.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from harness.targets.artifacts import pinned_releases
from harness.targets.errors import TargetError
from harness.targets.kafka.eras import modes_of
from harness.targets.kafka.target import KafkaTarget
from harness.targets.releases import releases_meant
from tests.targets.round_trip import round_trip

STARTS = 2


def seconds(target: KafkaTarget) -> tuple[float, float]:
    """Seconds of its start, and of the round trip after it."""
    begun = time.perf_counter()
    with target:
        started = time.perf_counter()
        round_trip(target)
        return started - begun, time.perf_counter() - started


def main(arguments: list[str]) -> int:
    """Print a row for each release and mode."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("releases", nargs="*", metavar="RELEASE[..RELEASE]")
    given = parser.parse_args(arguments)
    meant = [release for word in given.releases for release in releases_meant(word)]
    releases = meant or pinned_releases()
    logs = Path(tempfile.mkdtemp(prefix="kafka-conformance-logs-"))
    print(f"logs: {logs}\nrelease\tmode\tfirst start s\tround trip s\tsecond start s\tround trip s")
    failed = False
    for release in releases:
        for mode in modes_of(release):
            row = [release, mode.value]
            try:
                for _ in range(STARTS):
                    target = KafkaTarget(release, mode=mode.value, nodes=given.nodes, log_dir=logs)
                    row += [f"{each:.2f}" for each in seconds(target)]
            except (TargetError, AssertionError) as problem:
                failed = True
                row.append(f"FAILED: {problem}")
            print("\t".join(row), flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

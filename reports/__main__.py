"""`python -m reports DIR... --out DIR [--master MASTER]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .build import build_report
from .errors import ReportError


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 a report, 2 no report and why, 3 a report in which a run is incomplete."""
    parser = argparse.ArgumentParser(
        prog="python -m reports", description="Makes a compatibility matrix from result folders."
    )
    parser.add_argument("dirs", nargs="+", type=Path, metavar="DIR", help="a folder of results")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="for the report")
    parser.add_argument(
        "--master", default="local[*]", help="where Spark runs (default: this machine, local[*])"
    )
    given = parser.parse_args(arguments)
    try:
        paths = build_report(given.dirs, given.out, given.master)
    except ReportError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{paths.html}\n")
    if paths.incomplete:
        sys.stderr.write(f"INCOMPLETE: {', '.join(paths.incomplete)}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())

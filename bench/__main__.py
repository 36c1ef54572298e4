"""``python -m bench [NAME ...]``: see the package."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench.broker.__main__ import main as broker_main
from bench.cluster.__main__ import main as cluster_main
from bench.codec.__main__ import main as codec_main
from bench.histories.__main__ import main as histories_main
from bench.messages import cases as message_cases
from bench.proxy.__main__ import main as proxy_main
from bench.ratio import ratio
from bench.records import cases as record_cases
from bench.storage.__main__ import main as storage_main
from bench.suites import GROUP, suites_lines

_WITH_OPTIONS: dict[str, Callable[[list[str]], int]] = {
    "broker": broker_main,
    "cluster": cluster_main,
    "codec": codec_main,
    "histories": histories_main,
    "proxy": proxy_main,
    "storage": storage_main,
}
"""Those that are programs of their own."""


def main(names: list[str]) -> int:
    """Print one line a case; 2 for a name that is no group of cases."""
    if names and names[0] in _WITH_OPTIONS:
        return _WITH_OPTIONS[names[0]](names[1:])
    cases = [*message_cases(), *record_cases()]
    groups = sorted({*(case.group for case in cases), GROUP})
    unknown = [name for name in names if name not in groups]
    if unknown:
        sys.stderr.write(f"no case {unknown[0]!r}; there are: {', '.join(groups)}\n")
        return 2
    sys.stdout.write("our time / the peer's\n")
    for case in cases:
        if case.group in (names or groups):
            sys.stdout.write(f"{ratio(case):8.2f}  {case.name}\n")
            sys.stdout.flush()
    if GROUP in (names or groups):
        for line in suites_lines():
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

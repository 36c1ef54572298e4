"""``python -m bench.codec [--json] [PART ...]``: see the package."""

from __future__ import annotations

import json
import sys

from bench.codec import load, messages, records
from bench.codec.table import as_json, markdown

PARTS = {"messages": messages, "records": records, "load": load}


def main(arguments: list[str]) -> int:
    """0 when every target is reached, 1 when one is not, 2 for a part that is not there."""
    names = [word for word in arguments if word != "--json"] or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.stderr.write(f"no part {unknown[0]!r}; there are: {', '.join(PARTS)}, and --json\n")
        return 2
    found = [result for name in names for result in PARTS[name].results()]
    targets = [target for name in names for target in PARTS[name].TARGETS]
    if "--json" in arguments:
        sys.stdout.write(json.dumps(as_json(found, targets), indent=2) + "\n")
    else:
        sys.stdout.write(markdown(found, targets))
    return 0 if all(target.reached(found)[2] for target in targets) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

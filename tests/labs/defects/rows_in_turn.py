"""``python -m tests.labs.defects.rows_in_turn FOLDER REQUIREMENT NAME...``: runs in one session.

The tests of a requirement run under each of these defects in turn, ``-`` for none. Prints, as JSON,
the verdict of each run, how many checks it had, and how many plugins pytest had then.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harness.targets.spec import parse_target
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.defect import Where
from labs.defects.row_items import items_of
from labs.defects.row_session import RowSession
from labs.defects.struck_target import StruckTargets


def main() -> None:
    folder, requirement, *names = sys.argv[1:]
    defects = {defect.name: defect for defect in ALL_DEFECTS}
    runs: list[dict[str, Any]] = []

    def work(session: RowSession) -> None:
        items = items_of(session.items, Where.SHARED, (requirement,), is_cluster=False)
        with parse_target("reference", log_dir=Path(folder)) as broker:
            targets = StruckTargets("reference", tuple(broker.addresses), lambda: None)
            for number, name in enumerate(names):
                with targets.under(Where.SHARED, defects.get(name)) as make_target:
                    found = session.run(items, make_target, Path(folder), f"run-{number}")
                plugins = len(items[0].config.pluginmanager.get_plugins())
                runs.append(
                    {
                        "verdict": found.requirements[requirement].verdict.value,
                        "checks": len(found.requirements[requirement].checks),
                        "plugins": plugins,
                        "complete": found.complete,
                    }
                )

    RowSession(work).collect(["suites/protocol"], ["--versions", "ends"])
    print(json.dumps(runs))


if __name__ == "__main__":
    main()

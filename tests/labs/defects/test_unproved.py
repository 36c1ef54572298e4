"""A complete table names the MUST requirements that are judged and that no defect proves."""

from __future__ import annotations

import pytest

from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.seen_on import CLUSTER_SEEN_ON
from labs.defects.table_run import TableRequest, TableRun

ELSEWHERE = "REPL-001"
"""Proved by a defect of brokers that virtual ones join, which no table of clusters has."""
NOWHERE = "NONE-001"
HERE = "ELECT-011"


@pytest.mark.parametrize(("complete", "named"), [(True, [NOWHERE]), (False, [])])
def test_complete_table_lists_requirements_proved_by_no_target(
    complete: bool, named: list[str]
) -> None:
    chosen = [one for one in ALL_DEFECTS if one.requirement == HERE]
    assert chosen
    asked = TableRequest(CLUSTER_SEEN_ON, chosen, complete, 1, "ends", "area", None)
    run = TableRun(asked, lambda defect, judged: None, lambda text: None)
    run._proved = {HERE, ELSEWHERE, NOWHERE}
    assert run._unproved() == named

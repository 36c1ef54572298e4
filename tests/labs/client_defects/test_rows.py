"""Each requirement of the area CLIENT has a wrong broker that a client notices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.conformance.catalogue import BY_CLIENTS, load_catalogue
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.client_defects.rows import BY_ANOTHER, KAFKA_ALONE, ROWS
from labs.client_defects.struck_run import struck_row
from labs.defects.defect import Defect

SHOWN = [row for row in ROWS if row.requirement not in KAFKA_ALONE]


def test_every_requirement_of_clients_has_one_row() -> None:
    catalogue = load_catalogue()
    areas = [area for area in catalogue.areas.values() if area.asked_by == BY_CLIENTS]
    wanted = [name for area in areas for name in area.requirements]
    assert sorted(row.requirement for row in ROWS) == sorted(wanted)
    assert len(wanted) >= 61
    assert max(Counter(row.name for row in ROWS).values()) == 1


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with parse_target("reference", log_dir=tmp_path_factory.mktemp("logs")) as running:
        yield running


@pytest.mark.sample(30)
@pytest.mark.parametrize("row", SHOWN, ids=lambda row: row.name)
def test_client_notices_wrong_broker_for_its_reason(
    right: Target, row: Defect, tmp_path: Path
) -> None:
    client = BY_ANOTHER.get(row.requirement, "confluent-kafka")
    assert struck_row(row, client, right, tmp_path).problem == ""

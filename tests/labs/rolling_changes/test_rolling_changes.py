"""Changes of a cluster under load: their stages, their judgement, a real one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.histories.durability import judge
from harness.targets.errors import TargetError
from harness.targets.kafka.zookeeper import PIN
from labs.rolling_changes.__main__ import main
from labs.rolling_changes.changes import MIGRATIONS, migration, rolling_upgrade
from labs.rolling_changes.commits import CommitEvent, CommitStep, broken_commits
from labs.rolling_changes.run import Played, play
from labs.rolling_changes.shown import Shown, ShownBroker, version_changes
from labs.rolling_changes.table import markdown
from tests.targets.kinds import need_kafka

SENT, ACKNOWLEDGED, REFUSED, FETCHED = CommitStep
Step = tuple[CommitStep, int]


def events(*steps: Step) -> list[CommitEvent]:
    return [CommitEvent(step, offset) for step, offset in steps]


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [(SENT, 1), (ACKNOWLEDGED, 1), (FETCHED, 1)],
        [(FETCHED, -1), (SENT, 1), (REFUSED, 1), (FETCHED, -1)],
        [(SENT, 1), (ACKNOWLEDGED, 1), (SENT, 2), (REFUSED, 2), (FETCHED, 2)],
        [(SENT, 1), (ACKNOWLEDGED, 1), (SENT, 2), (REFUSED, 2), (FETCHED, 1)],
    ],
)
def test_committed_offsets_that_may_be_fetched_break_nothing(steps: list[Step]) -> None:
    assert broken_commits(events(*steps)) == []


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([(SENT, 1), (ACKNOWLEDGED, 1), (FETCHED, -1)], "the commit of 1 is lost: -1 is fetched"),
        (
            [(SENT, 1), (ACKNOWLEDGED, 1), (SENT, 2), (ACKNOWLEDGED, 2), (FETCHED, 1)],
            "the commit of 2 is lost: 1 is fetched",
        ),
        ([(SENT, 1), (REFUSED, 1), (FETCHED, 2)], "2 is fetched, and no more than 1 was committed"),
    ],
)
def test_lost_or_invented_committed_offset_is_found(steps: list[Step], said: str) -> None:
    assert broken_commits(events(*steps)) == [said]


def test_version_changes_name_new_changed_and_removed_apis() -> None:
    before, after = {1: (0, 17), 4: (0, 7)}, {1: (4, 18), 60: (0, 1)}
    assert version_changes(before, after) == [
        "Fetch 0-17 -> 4-18",
        "LeaderAndIsr 0-7 -> none",
        "DescribeCluster none -> 0-1",
    ]
    assert version_changes(before, before) == []


# -- stages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(MIGRATIONS))
def test_migration_has_stage_for_each_phase(name: str, tmp_path: Path) -> None:
    made = migration(name, "3.9.2", tmp_path)
    assert made.begins == "zookeeper"
    assert [stage.name for stage in made.stages] == [phase.value for phase in MIGRATIONS[name]]
    assert made.target.spec == "kafka:3.9.2,mode=migrating,phase=zookeeper,nodes=3"


@pytest.mark.parametrize(
    ("older", "newer", "spec", "nodes"),
    [
        ("2.8.2", "3.9.2", "kafka:2.8.2,nodes=3", ["1", "2", "3"]),
        ("3.9.2", "4.4.0", "kafka:3.9.2,nodes=3", ["100", "1", "2", "3"]),
    ],
)
def test_upgrade_has_stage_for_each_node_and_for_level(
    older: str, newer: str, spec: str, nodes: list[str], tmp_path: Path
) -> None:
    made = rolling_upgrade(older, newer, tmp_path)
    assert made.target.spec == spec
    names = [stage.name for stage in made.stages]
    assert names == [
        *(f"node {node} is {newer}" for node in nodes),
        f"{newer} at its own level",
    ]


def test_impossible_upgrade_raises_target_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="newer release than"):
        rolling_upgrade("3.9.2", "3.8.1", tmp_path)
    with pytest.raises(TargetError, match="has no mode zk"):
        rolling_upgrade("2.7.2", "4.0.2", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to do"),
        (["--upgrade", "3.9.2"], "write OLDER..NEWER"),
        (["--migration", "way-back", "--release", "4.4.0"], "has no ZooKeeper"),
        (["--migration", "forth"], "is not one of"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert said in result.output


# -- the text ------------------------------------------------------------------------------------


def broker(versions: dict[int, tuple[int, int]], controllers: tuple[int, ...]) -> ShownBroker:
    features = {"metadata.version": 21}
    return ShownBroker(controllers, (), (1, 2), versions, features)


def test_text_has_what_brokers_show_and_what_is_broken() -> None:
    shown = [
        Shown("before", {1: broker({1: (0, 17)}, (1,)), 2: broker({1: (0, 17)}, (1,))}),
        Shown("after", {1: broker({1: (4, 18)}, (1, 2)), 2: broker({1: (0, 17)}, (1,))}),
    ]
    played = Played(
        "a change",
        shown,
        {"before": Counter(), "after": Counter({"Produce ConnectionClosed": 2})},
        restarts=3,
        commits=events((SENT, 1), (ACKNOWLEDGED, 1), (FETCHED, 1)),
        verdict=judge([], {}),
        broken=("the commit of 2 is lost: 1 is fetched",),
    )
    lines = markdown(played).splitlines()
    assert "| after | 1, 2 / 1 | - / - | 1 / 1 | metadata.version 21 |" in lines
    assert "- broker 1 (after): Fetch 0-17 -> 4-18" in lines
    assert "| after | 2 x Produce ConnectionClosed |" in lines
    assert "| before | none |" in lines
    assert "- BROKEN: the commit of 2 is lost: 1 is fetched" in lines


# -- a real one ----------------------------------------------------------------------------------


@pytest.mark.kafka
@pytest.mark.deep
def test_upgrade_under_load_loses_no_record_and_no_commit(tmp_path: Path) -> None:
    """At its end all brokers advertise the newer versions, and the level is the newer one's."""
    need_kafka("3.9.2", "4.4.0")
    played = play(rolling_upgrade("3.9.2", "4.4.0", tmp_path), "a sample")
    assert played.broken == ()
    assert played.restarts == 4
    for one in played.shown[-1].brokers.values():
        assert one.features["metadata.version"] > 21
        assert one.versions[1] == (4, 18)


@pytest.mark.kafka
@pytest.mark.deep
def test_migration_under_load_loses_no_record_and_no_commit(tmp_path: Path) -> None:
    """Only brokers with a ZooKeeper advertise LeaderAndIsr, and only the others a level."""
    need_kafka("3.9.2", PIN)
    played = play(migration("migration", "3.9.2", tmp_path), "a sample")
    assert played.broken == ()
    seen = [(4 in one.brokers[1].versions, bool(one.brokers[1].features)) for one in played.shown]
    assert seen == [(True, False), (True, False), (False, True), (False, True)]

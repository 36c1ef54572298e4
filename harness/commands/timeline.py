"""``kafka-conformance timeline``: replication in ten steps, as each target shows it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from harness.base.own_names import DEFAULT_PREFIX, case_prefix, new_nonce
from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.histories.replication import check_replication
from harness.runner.brokers.pooled_broker import joinable_broker
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.info import probe
from harness.targets.spec import expand_all, parse_target
from harness.targets.target import JOIN_AS_BROKER, Target
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.timeline import EXPECTED, STEPS, Timeline, TimelineRow, expected_of

EXIT_DIFFERS, EXIT_NOT_SEEN = 1, 3
HEAD = ("step", "LEO", "confirmed R2/R3", "HW", "told R2/R3", "records")


@dataclass(frozen=True, slots=True)
class ShownTimeline:
    """One target: its rows, the same in every repetition, or why there are none."""

    spec: str
    release: str
    rows: tuple[TimelineRow, ...] = ()
    problem: str = ""

    @property
    def as_expected(self) -> bool:
        return self.rows == expected_of(self.release)

    @property
    def differs(self) -> list[str]:
        """Return the differences from the common table, in words."""
        found = []
        for mine, common in zip(self.rows, EXPECTED, strict=False):
            if mine != common:
                found.append(f"{mine.step}: {' | '.join(_cells(mine)[1:])}")
        return found


@click.command("timeline")
@click.option("--repeat", default=3, show_default=True, help="How often, each with a new topic.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the table and the list of targets there, too.")  # fmt: skip
@click.argument("specs", nargs=-1, required=True, metavar="TARGET...")
def timeline_command(repeat: int, markdown: Path | None, specs: tuple[str, ...]) -> None:
    """Replication from T1 to T10 at each TARGET, which the harness joins as two brokers.

    R1 leads, R2 and R3 are steered one fetch at a time.

    Exit 0: each is as its release should be; 1: one differs; 2: usage; 3: one could not be seen.
    """
    with TemporaryDirectory(prefix="kafka-conformance-timeline-") as logs:
        try:
            targets = [parse_target(spec, log_dir=Path(logs)) for spec in expand_all(specs)]
        except TargetError as problem:
            raise click.UsageError(str(problem)) from problem
        shown = []
        for target in targets:
            shown.append(_show(target, repeat))
            click.echo(_line(shown[-1]))
    click.echo()
    click.echo("\n".join(_table(EXPECTED)))
    click.echo("\n".join(verdict := _verdict(shown)))
    if markdown is not None:
        markdown.write_text("\n".join(_page(shown, repeat, verdict)), "utf-8")
    codes = [
        EXIT_NOT_SEEN if one.problem else EXIT_DIFFERS * (not one.as_expected) for one in shown
    ]
    sys.exit(max(codes))


def _exit_code(one: ShownTimeline) -> int:
    if one.problem:
        return EXIT_NOT_SEEN
    return 0 if one.as_expected else EXIT_DIFFERS


def _show(target: Target, repeat: int) -> ShownTimeline:
    """A broker like the target is started for this, and ends with it."""
    pool = joinable_broker()
    try:
        played = [_play(pool.acquire(lambda: target)) for _ in range(repeat)]
    except (TargetError, MissingCapability, BrokerMisbehaved) as problem:
        return ShownTimeline(
            target.spec, target.release, problem=f"{type(problem).__name__}: {problem}"
        )
    finally:
        pool.stop()
    if len(set(played)) > 1:
        return ShownTimeline(
            target.spec, target.release, problem="not the same in every repetition"
        )
    return ShownTimeline(target.spec, target.release, played[0])


def _play(running: Target) -> tuple[TimelineRow, ...]:
    """Raises MissingCapability, BrokerMisbehaved; TargetError where a promise is broken."""
    client, info = running.peer_endpoint, probe(running)
    if client is None:
        raise MissingCapability(JOIN_AS_BROKER, running.spec)
    prefix = case_prefix(DEFAULT_PREFIX, new_nonce(), "timeline")
    broker = BrokerUnderTest(
        info.addresses, info.api_versions, time_scale=info.time_scale, name_prefix=prefix
    )
    try:
        with JoinedCluster(client, broker, running.nodes[0]) as cluster:
            followers = [cluster.join(), cluster.join()]
            timeline = Timeline(cluster.partition(followers), followers)
            rows = tuple(timeline.rows())
            partition = timeline.partition
    finally:
        broker.close()
    if found := check_replication(partition.seen, partition.replicas):
        raise TargetError(f"{running.spec}: {found[0]}")
    return rows


def _cells(row: TimelineRow) -> list[str]:
    def pair(of: Sequence[int]) -> str:
        return "/".join("-" if each < 0 else str(each) for each in of)

    records = ",".join(map(str, row.records)) or "none"
    watermark = str(row.high_watermark)
    if row.listed != row.high_watermark:
        watermark += f" (ListOffsets {row.listed})"
    told = pair(row.told)
    return [row.step, str(row.log_end), pair(row.confirmed), watermark, told, records]


def _table(rows: Sequence[TimelineRow]) -> list[str]:
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    for step, row in zip(STEPS, rows, strict=True):
        lines.append(f"| {' | '.join([str(step), *_cells(row)[1:]])} |")
    return lines


def _line(one: ShownTimeline) -> str:
    if one.problem:
        return f"{one.spec}: {one.problem}"
    how = "as expected" if one.as_expected else "NOT as expected"
    return f"{one.spec}: {how}" + "".join(f"\n    {told}" for told in one.differs)


def _verdict(shown: Sequence[ShownTimeline]) -> list[str]:
    """Return sentences: the number of targets that agree, and the differences of the others."""
    seen = [one for one in shown if not one.problem]
    alike = [one for one in seen if not one.differs]
    dated = [one for one in seen if one.differs and one.as_expected]
    wrong = [one for one in seen if not one.as_expected]
    lines = [f"{len(alike)} of {len(shown)} targets show this table."]
    for those, how in ((dated, "as its release does"), (wrong, "and its release does not")):
        lines += [f"{one.spec} differs, {how}: {'; '.join(one.differs)}." for one in those]
    lines += [f"{one.spec} was not seen: {one.problem}." for one in shown if one.problem]
    return lines


def _page(shown: Sequence[ShownTimeline], repeat: int, verdict: Sequence[str]) -> list[str]:
    """docs/timeline.md."""
    day = datetime.now(UTC).date().isoformat()
    return [
        "# Replication in ten steps",
        "",
        f"Made on {day} by `kafka-conformance timeline --repeat {repeat}`. R1 is a real broker and",
        "leads; R2 and R3 are virtual brokers ([virtual-broker.md](virtual-broker.md)) that are",
        "steered one fetch at a time. After each step: where R1's log ends, what R2 and R3 have",
        "confirmed by the offset of a fetch, the high watermark that a consumer is told, the one",
        "that R2 and R3 were told last, and the offsets of the records in this step's answer.",
        "",
        *_table(EXPECTED),
        "",
        *(f"{line}\n" for line in verdict),
        "## Targets",
        "",
        *(f"- `{one.spec}`" for one in shown if not one.problem),
        "",
    ]

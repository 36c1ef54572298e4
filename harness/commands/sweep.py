"""``kafka-conformance sweep``: every version of every API, and whether the cluster is unchanged."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from harness.client.errors import BrokerMisbehaved
from harness.codec.apis import APIS
from harness.codec.dictionary_form import to_dict
from harness.codec.header import encode_request
from harness.codec.versions import VersionRange
from harness.commands.known_api import known_api
from harness.conformance.harmless_requests import Safety
from harness.runner.brokers.pooled_broker import PooledBroker
from harness.sweep.asking import SweepAnswer, SweepOutcome
from harness.sweep.requests import OwnNames, harmless_request, safety_of, why_harmless
from harness.sweep.snapshot import differences, take_snapshot
from harness.sweep.walk import ANYTHING, Own, SweepStep, new_names, steps, sweep
from harness.targets.errors import TargetError
from harness.targets.info import TargetInfo, probe
from harness.targets.not_answered import wrong_answer_behind
from harness.targets.spec import parse_target
from harness.targets.target import OWN_BROKER, Target

ANSWER_TIMEOUT_MS = 10_000
EXIT_NOT_GOOD, EXIT_NOT_ASKED = 1, 3


@click.command("sweep")
@click.option("--target", "spec", metavar="SPEC",
              help="The broker; `kafka-conformance targets` lists the forms.")  # fmt: skip
@click.option("--dry-run", is_flag=True,
              help="Print what would be sent: at all versions that are known, or with --target at "
              "those that it advertises (ApiVersions is then all that it is asked).")  # fmt: skip
@click.option("--api", "names", multiple=True, metavar="NAME",
              help="Only this API; may be repeated.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
def sweep_command(spec: str | None, dry_run: bool, names: tuple[str, ...], as_json: bool) -> None:
    """Ask a harmless request of every version of every API, and decode each answer strictly.

    An error code is an answer. What could harm a broker goes only to one that is started to be
    thrown away, never to `external:`. The cluster is looked at before and after.

    Exit 0: all answers are whole and the cluster is unchanged; 1: not so; 2: usage; 3: the target
    could not be asked.
    """
    for name in names:
        known_api(name, "--api")
    if spec is None:
        if not dry_run:
            raise click.UsageError("a target is needed (--target), or --dry-run")
        _print_requests(steps(only=names), as_json, ANYTHING, can_start=True)
        return
    try:
        with TemporaryDirectory(prefix="kafka-conformance-sweep-") as logs:
            with parse_target(spec, log_dir=Path(logs)) as target:
                good = _at_target(target, names, dry_run=dry_run, as_json=as_json)
    except (TargetError, BrokerMisbehaved) as problem:
        click.echo(f"Error: {problem}", err=True)
        sys.exit(EXIT_NOT_GOOD if wrong_answer_behind(problem) else EXIT_NOT_ASKED)
    sys.exit(0 if good else EXIT_NOT_GOOD)


def _at_target(target: Target, names: Sequence[str], *, dry_run: bool, as_json: bool) -> bool:
    """Sweep the target and print the answers; True if all is well.

    With ``dry_run`` print the requests instead. Raises TargetError, BrokerMisbehaved.
    """
    info = probe(target)
    advertised = {key: VersionRange(*pair) for key, pair in info.api_versions.items()}
    wanted, own = steps(advertised, names), Own(info.safety, info.name_prefix)
    if dry_run:
        _print_requests(wanted, as_json, own, can_start=OWN_BROKER in info.capabilities)
        return True
    timeout_ms = ANSWER_TIMEOUT_MS * info.time_scale
    address = info.addresses[0]
    before = take_snapshot(address, advertised, timeout_ms)
    answers = _answers(target, info, wanted, timeout_ms, advertised, own)
    changed = differences(before, take_snapshot(address, advertised, timeout_ms))
    unknown = sorted(set(info.api_versions) - set(APIS))
    if unknown:
        click.echo(f"Advertised, and no definition is known: API keys {unknown}", err=True)
    (_print_json if as_json else _print_answers)(answers, changed)
    return not changed and all(answer.good for answer in answers)


def _answers(
    target: Target,
    info: TargetInfo,
    wanted: Sequence[SweepStep],
    timeout_ms: float,
    advertised: Mapping[int, VersionRange],
    own: Own,
) -> list[SweepAnswer]:
    disposable = PooledBroker()
    can_start = OWN_BROKER in info.capabilities
    start = (lambda: disposable.acquire(lambda: target).addresses[0]) if can_start else None
    try:
        return list(sweep(wanted, info.addresses[0], start, timeout_ms, advertised, own))
    finally:
        disposable.stop()


# -- what would be sent ----------------------------------------------------------------------------


def _print_requests(
    wanted: Sequence[SweepStep], as_json: bool, own: Own, *, can_start: bool
) -> None:
    names = new_names(own.prefix)
    for step in wanted:
        row = _request_row(step, names, _sent_to(step, own, can_start))
        if as_json:
            click.echo(json.dumps(row))
            continue
        click.echo("{api} v{version}  {safety}  to {to}: {why}".format(**row))
        click.echo(f"    {json.dumps(row['request'])}\n    {row['hex']}")


def _sent_to(step: SweepStep, own: Own, can_start: bool) -> str:
    if step.safety is Safety.DESTRUCTIVE:
        return "a broker of its own" if can_start else "nobody"
    return "the target" if step.safety in own.safety else "nobody"


def _request_row(step: SweepStep, names: OwnNames, sent_to: str) -> dict[str, object]:
    """One request as it would go over the wire, header included and length not."""
    name, version = step.api.name, step.version
    request = harmless_request(name, version, names)
    return {
        "api": name,
        "version": version,
        "safety": step.safety,
        "to": sent_to,
        "why": why_harmless(name),
        "request": to_dict(request, version),
        "hex": encode_request(request, version, 1).hex(),
    }


# -- what came back --------------------------------------------------------------------------------


def _print_json(answers: Sequence[SweepAnswer], changed: Sequence[str]) -> None:
    for answer in answers:
        row = {
            "api": answer.api_name,
            "version": answer.version,
            "outcome": answer.outcome,
            "errors": answer.errors,
            "note": answer.note,
        }
        click.echo(json.dumps(row))
    click.echo(json.dumps({"changed": list(changed)}))


def _print_answers(answers: Sequence[SweepAnswer], changed: Sequence[str]) -> None:
    """Print a line for each range of versions of an API with the same result."""
    for (name, told), group in groupby(answers, key=lambda one: (one.api_name, _told(one))):
        versions = [answer.version for answer in group]
        shown = VersionRange(versions[0], versions[-1])
        click.echo(f"{name:<38} {safety_of(name):<12} {shown!s:<6} {told}")
    sent = [answer for answer in answers if answer.outcome is not SweepOutcome.NOT_SENT]
    decoded = sum(answer.outcome is SweepOutcome.DECODED for answer in sent)
    wrong = sum(not answer.good for answer in sent)
    click.echo(
        f"\n{len(sent)} requests: {decoded} answers decoded to the last byte, "
        f"{len(sent) - decoded - wrong} left unanswered as documented, {wrong} wrong; "
        f"{len(answers) - len(sent)} not sent."
    )
    if not changed:
        click.echo("The cluster is unchanged.")
        return
    click.echo("The cluster has changed, by the sweep or by others meanwhile:")
    for line in changed:
        click.echo(f"  {line}")


def _told(answer: SweepAnswer) -> str:
    words = [str(answer.outcome), *answer.errors]
    return " ".join(words) + (f" ({answer.note})" if answer.note else "")

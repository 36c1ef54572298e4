"""``kafka-conformance lab late-end --target SPEC``: an EndTxn that is late (KAFKA-17754).

Exit 0: all transactions are whole; 1: one is torn, or a run is not judged; 2: usage.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import UpdateFeaturesRequest
from harness.histories.history import ClientAction, to_lines
from harness.histories.judgement import HistoryVerdict, Judgement
from harness.histories.transaction_mode import FENCES_EACH_END
from harness.proxies.clock import new_clock
from harness.proxies.rules import RuleSet
from harness.targets.asking import ask_api_versions, ask_finalized_features
from harness.targets.errors import TargetError
from harness.targets.proxied import proxied
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.late_end.scenario import LateEnd

ASK_MS = 30_000
TRANSACTION_VERSION = "transaction.version"
FIRST_WITH_FEATURES, FIRST_WITH_UPGRADE_TYPES = 3, 1
SAFE_DOWNGRADE = 2
WAYS = {"commit": True, "abort": False}


@click.command()
@click.option("--target", default="kafka:4.4.0", show_default=True)
@click.option("--form", type=click.Choice(["negotiated", "older", "newer"]), default="negotiated",
              show_default=True, help="Of the transactions; newer: since KIP-890.")  # fmt: skip
@click.option("--transaction-version", type=click.IntRange(0, 2), default=None,
              help="Finalize this level of the feature first.")  # fmt: skip
@click.option("--late", "ways", multiple=True, type=click.Choice(list(WAYS)), default=tuple(WAYS),
              show_default=True, help="The late request; may be repeated.")  # fmt: skip
@click.option("--out", default="results/late-end", show_default=True,
              type=click.Path(path_type=Path, file_okay=False))  # fmt: skip
def main(
    target: str, form: str, transaction_version: int | None, ways: tuple[str, ...], out: Path
) -> None:
    """Deliver an EndTxn within the next transaction, and judge that transaction."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="late-end-") as folder:
            with parse_target(target, log_dir=Path(folder)) as started:
                if transaction_version is not None:
                    finalize(started, transaction_version)
                newer = form == "newer" or (form == "negotiated" and negotiates_newer(started))
                click.echo(f"{target}, a client of the {'newer' if newer else 'older'} form")
                verdicts = [_play(started, newer, way, out) for way in ways]
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    sys.exit(0 if all(one is HistoryVerdict.VALID for one in verdicts) else 1)


def _play(target: Target, newer: bool, way: str, out: Path) -> HistoryVerdict:
    rules = RuleSet(now_ms=new_clock())
    with proxied(target, interceptor=rules) as behind, _direct(target) as broker:
        scenario = LateEnd(behind, rules, broker)
        judgement = scenario.play(newer=newer, late_commit=WAYS[way])
    click.echo(f"\nthe late request is a{'n' * (way == 'abort')} {way}:")
    for number, step in enumerate(scenario.steps, start=1):
        click.echo(f"  {number}. {step}")
    visible = [one.value for one in scenario.notes.history
               if one.action is ClientAction.FINAL_READ and one.value]  # fmt: skip
    click.echo(f"  a read_committed consumer finds: {', '.join(visible) or 'nothing'}")
    click.echo(f"  {_verdict(judgement)}")
    name = target.spec.replace(":", "-").replace(",", "-")
    path = out / f"{name}-{'newer' if newer else 'older'}-{way}.history.jsonl"
    path.write_text(to_lines(scenario.notes.history), "utf-8")
    return judgement.verdict


def _verdict(judgement: Judgement) -> str:
    found = ", ".join(str(each.anomaly) for each in judgement.findings) or judgement.why
    return f"{judgement.verdict}{found and ': '}{found}"


def negotiates_newer(target: Target) -> bool:
    """True if the finalized transaction.version lets a client use the newer form."""
    address = target.addresses[0]
    versions = ask_api_versions(address, ASK_MS)
    if 18 not in versions or versions[18][1] < FIRST_WITH_FEATURES:
        return False
    levels = ask_finalized_features(address, ASK_MS)
    return levels.get(TRANSACTION_VERSION, 0) >= FENCES_EACH_END


def finalize(target: Target, level: int) -> None:
    """Finalize this transaction.version. Raises TargetError: the target refuses."""
    address = target.addresses[0]
    key = UpdateFeaturesRequest.FeatureUpdateKey(
        feature=TRANSACTION_VERSION, max_version_level=level, upgrade_type=SAFE_DOWNGRADE
    )
    request = UpdateFeaturesRequest(timeout_ms=ASK_MS, feature_updates=[key])
    with Connection((address.host, address.port), "late-end", ASK_MS) as connection:
        answer = connection.ask(request, FIRST_WITH_UPGRADE_TYPES)
    codes = [answer.error_code, *(one.error_code for one in answer.results)]
    if refused := [code for code in codes if code != ErrorCode.NONE]:
        raise TargetError(f"UpdateFeatures: {ErrorCode.describe(refused[0])}")


@contextmanager
def _direct(target: Target) -> Iterator[BrokerUnderTest]:
    """A client that meets no proxy."""
    versions = ask_api_versions(target.addresses[0], ASK_MS)
    prefix = f"{target.name_prefix}-late-{time.monotonic_ns()}"
    broker = BrokerUnderTest(target.addresses[:1], versions, name_prefix=prefix)
    try:
        yield broker
    finally:
        broker.close()


if __name__ == "__main__":
    main()

"""``kafka-conformance lab fuzz [TARGET...] --minutes N``: fuzz, and say what came of it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click
import psutil

from labs.fuzz.corpus import HERE, unpack
from labs.fuzz.summary import Summary, as_text, summarise
from labs.fuzz.targets import SHARES

MOST_BYTES = 8192  # of one input
INPUT_TIMEOUT_S = 10
RSS_LIMIT_MB = 1024
NICE = 10
SEEDS_PER_SECOND = 4  # to instrument a decoder takes long: a short run begins with some seeds only
_SAMPLE_EVERY_S = 2.0
_GRACE_S = 120


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--minutes", default=1.0, show_default=True, help="Of all targets together.")
@click.option("--jobs", default=1, show_default=True, help="Targets at the same time.")
@click.option("--seed", default=0, show_default=True, metavar="N",
              help="Of the first mutations; 0: the fuzzer draws one.")  # fmt: skip
@click.option("--work", type=click.Path(path_type=Path, file_okay=False),
              help="Keeps what is found, and goes on from it the next time.")  # fmt: skip
@click.option("--log", type=click.Path(path_type=Path), help="The summary goes here too.")
def main(
    targets: tuple[str, ...],
    minutes: float,
    jobs: int,
    seed: int,
    work: Path | None,
    log: Path | None,
) -> None:
    """Fuzz all targets, or some, one after the other; each has its share of the time.

    Exit 0: no crash, hang or leak; 1: some, and where the input lies; 2: usage.
    """
    names = targets or tuple(SHARES)
    unknown = [name for name in names if name not in SHARES]
    if unknown:
        raise click.UsageError(f"no target {unknown[0]!r}; there are {', '.join(SHARES)}")
    if find_spec("atheris") is None:
        raise click.UsageError("atheris is not installed: pip install -e '.[dev]', on Linux")
    whole = sum(SHARES[name] for name in names)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as temporary:
        folder = (work or Path(temporary)).absolute()
        minutes *= min(jobs, len(names))
        run = partial(_run, folder, whole=whole, minutes=minutes, seed=seed)
        with ThreadPoolExecutor(jobs) as pool:
            summaries = list(pool.map(run, names))
        text = as_text(summaries)
        click.echo(text)
        if log is not None:
            log.write_text(text + "\n", "utf-8")
        for one in summaries:
            for artifact in one.artifacts:
                click.echo(f"{artifact}: {Path(artifact).read_bytes().hex()}")
    sys.exit(1 if any(one.problems for one in summaries) else 0)


def _run(folder: Path, target: str, *, whole: int, minutes: float, seed: int) -> Summary:
    found, seeds = folder / target / "found", folder / target / "seeds"
    for one in (found, seeds):
        one.mkdir(parents=True, exist_ok=True)
    seconds = max(1, round(60 * minutes * SHARES[target] / whole))
    unpack(target, seeds, at_most=SEEDS_PER_SECOND * seconds)
    flags = [
        f"-max_total_time={seconds}", f"-timeout={INPUT_TIMEOUT_S}", f"-max_len={MOST_BYTES}",
        f"-rss_limit_mb={RSS_LIMIT_MB}", f"-seed={seed}", f"-dict={HERE / 'dictionary.txt'}",
        "-print_final_stats=1", f"-artifact_prefix={folder / target}/", str(found), str(seeds),
    ]  # fmt: skip
    command = [sys.executable, "-m", "labs.fuzz.one_target", target, *flags]
    log = folder / target / "log.txt"
    began = time.monotonic()
    with log.open("wb") as out:
        process = psutil.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        code, rss_mb = _watch(process, seconds + _GRACE_S)
    text = log.read_text("utf-8", "replace")
    if code:
        click.echo(f"-- the end of {target}'s log\n{text[-4000:]}")
    return summarise(target, text, code, time.monotonic() - began, rss_mb)


def _watch(process: psutil.Popen, longest_s: float) -> tuple[int, list[int]]:
    """(exit code, resident memory in MB over time); a process that never ends is killed."""
    process.nice(NICE)
    rss_mb: list[int] = []
    deadline = time.monotonic() + longest_s
    while True:
        try:
            return process.wait(_SAMPLE_EVERY_S), rss_mb
        except psutil.TimeoutExpired:
            if time.monotonic() > deadline:
                process.kill()
                return process.wait() or 1, rss_mb
            rss_mb.append(process.memory_info().rss // 2**20)


if __name__ == "__main__":
    main()

"""The runs of a client: first at a broker where its own failures show, then at each target."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

from harness.base.bundle import CLIENTS_SUITE
from harness.clients.known import KnownClient
from harness.commands.judging import JudgedTarget, judge_target, suites_root
from harness.commands.run_display import show_nothing
from harness.commands.suite_pytest import at_once
from harness.conformance.verdict import Verdict
from harness.negotiation.negotiate import negotiate
from harness.reference_broker.emulated_release import EmulatedRelease, releases
from harness.targets.java import JavaError, find_java

WITHOUT_JAVA: Final = "reference"
AT: Final = "at"
"""In the output folder: the runs at the first brokers; the report does not read them."""
FAILURES: Final = "client_failures.json"
OWN_FAILURES: Final = frozenset(
    {Verdict.FAILED, Verdict.WARNING, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR}
)


@dataclass(frozen=True, slots=True)
class ClientPair:
    """A client at a target. ``at``: where it was asked first, with as many failures of its own."""

    client: KnownClient
    spec: str
    at: str
    own_failures: int
    judged: JudgedTarget


def own_broker(client: KnownClient) -> str:
    """The newest Apache Kafka that has a common version of each API of the client.

    Where its versions are not known, the newest; the built-in broker where there is no Java.
    """
    try:
        find_java()
    except JavaError:
        return WITHOUT_JAVA
    known = [*reversed(releases())]
    fitting = (release for release in known if _shares_all(client, release))
    return f"kafka:{next(fitting, known[0])}"


def _shares_all(client: KnownClient, release: str) -> bool:
    if client.versions is None:
        return True
    advertised = EmulatedRelease.of(release).api_versions
    return not negotiate(client.versions, advertised, {}).without_common_version


@dataclass(frozen=True, slots=True)
class PairMaker:
    """Options of all pairs of a command; ``screen`` gets a line when a run begins."""

    out: Path
    jobs: int
    answer_s: float
    globs: Sequence[str]
    screen: Console

    def pairs_of(
        self, word: str, client: KnownClient, at: str, targets: Sequence[str]
    ) -> Iterator[ClientPair]:
        """Ask the client at its own broker, and then at each target. Raises RunInterrupted."""
        first = self._judged(word, client, at, self.out / AT, [])
        if first.summary is None or not first.summary.complete:
            why = f"{client.label} was not asked to the end at {at}: {first.problem}"
            for spec in targets:
                nothing = JudgedTarget(f"{client.label} on {spec}", first.run_dir, None, why)
                yield ClientPair(client, spec, at, 0, nothing)
            return
        failures = _failures(client, first)
        file = first.run_dir / FAILURES
        file.write_text(json.dumps(failures), "utf-8")
        for spec in targets:
            options = ["--client-failures", str(file)]
            judged = self._judged(word, client, spec, self.out, options)
            yield ClientPair(client, spec, at, len(failures), judged)

    def _judged(
        self, word: str, client: KnownClient, spec: str, out: Path, options: Sequence[str]
    ) -> JudgedTarget:
        label = f"{client.label} on {spec}"
        self.screen.print(label, markup=False, highlight=False)
        given = ["--client", word, "--client-answer-s", str(self.answer_s), *options]
        given += [word for glob in self.globs for word in ("--requirement", glob)]
        folder = str(suites_root() / CLIENTS_SUITE)
        given += at_once(str(self.jobs)) if self.jobs > 1 else []
        with show_nothing(spec, out, self.screen) as watched:
            return judge_target(spec, [folder, *given], out, watched, label)


def _failures(client: KnownClient, first: JudgedTarget) -> dict[str, str]:
    """By case, the reason why it is no failure of another broker."""
    if first.summary is None:
        return {}
    at = first.summary.header.target.removeprefix(f"{client.label} on ")
    return {
        check.case: f"{client.label} fails at {at} too: {check.verdict.value}: {check.text}"
        for one in first.summary.requirements.values()
        for check in one.checks
        if check.verdict in OWN_FAILURES
    }

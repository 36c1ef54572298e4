"""One row: a client at a broker behind proxies with a defect, judged by `suites/clients`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.base.bundle import CLIENTS_SUITE
from harness.commands.judging import judge_target, suites_root
from harness.conformance.verdict import BROKEN
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.targets.proxied import ProxiedTarget, proxied
from harness.targets.target import Target
from labs.defects.defect import Defect


@dataclass(frozen=True, slots=True)
class StruckRow:
    """``problem``: empty if the defect was noticed for the reason that its row names."""

    defect: Defect
    problem: str


def struck_row(defect: Defect, client: str, running: Target, out: Path) -> StruckRow:
    """Judge the requirement of the row under its defect, at a started target."""
    with proxied(running, interceptor=FrameRuleInterceptor(defect.rule())) as behind:
        problem = _problem(defect, client, behind, out)
        errors = [error for proxy in behind.proxies for error in proxy.errors]
    return StruckRow(defect, f"the rule raised {errors[0]!r}" if errors else problem)


def _problem(defect: Defect, client: str, behind: ProxiedTarget, out: Path) -> str:
    folder = str(suites_root() / CLIENTS_SUITE)
    options = [folder, "--client", client, "--requirement", defect.requirement]
    spec = f"external:{behind.bootstrap}"
    judged = judge_target(spec, options, out, lambda _: None, defect.name)
    found = judged.summary.requirements.get(defect.requirement) if judged.summary else None
    if found is None:
        return f"no result: {judged.problem}"
    if found.verdict not in BROKEN:
        reasons = "; ".join(check.text for check in found.checks)
        return f"not noticed: {found.verdict.value} {reasons}".rstrip()
    others = [
        check.text
        for check in found.checks
        if check.verdict in BROKEN and not re.search(defect.reason, check.text)
    ]
    return f"noticed for another reason than /{defect.reason}/: {others[0]}" if others else ""

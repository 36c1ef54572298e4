"""The headline of a run: how much of the catalogue it judged, and what it did not judge, and why.

Each requirement of the catalogue is judged (it holds or it does not), or belongs to one group of
those that are not judged. A group has the reason in words and the option or target that would have
them judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.conformance.catalogue import BY_CLIENTS, Catalogue, Requirement
from harness.conformance.dated_reason import SINCE, UNTIL, DatedReason
from harness.conformance.missing_rights import rights_in
from harness.conformance.record import CheckRecord, RunHeader
from harness.conformance.summary import RequirementSummary, RunSummary
from harness.conformance.verdict import Verdict

_SIDES = {SINCE: "from", UNTIL: "up to"}
"""By the word of a date, the one before the releases to judge."""
EXTERNAL = "external:"
ACCESS_FILE = f"{EXTERNAL}HOST:PORT,profile=FILE with"


class NotJudgedReason(NamedTuple):
    """``why``, and ``remedy``: what to do to have the requirement judged."""

    why: str
    remedy: str


class NotJudgedGroup(NamedTuple):
    """Requirements that a run did not judge for one reason; their ids are sorted."""

    why: str
    remedy: str
    requirements: tuple[str, ...]

    def __str__(self) -> str:
        return f"{len(self.requirements)} {self.why}: {self.remedy}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The numbers of one run.

    Attributes:
        requirements: in the catalogue.
        judged: of them, those that were seen to hold or not to hold.
        musts, musts_passed: the MUSTs of the catalogue, and those that passed.
        not_judged: the groups of the others, the largest first.
    """

    requirements: int
    judged: int
    musts: int
    musts_passed: int
    not_judged: tuple[NotJudgedGroup, ...]

    @property
    def sentence(self) -> str:
        """Counts of the catalogue, as one sentence without its end."""
        return (
            f"{self.judged} of the {self.requirements} requirements of the catalogue judged; "
            f"{self.musts_passed} of its {self.musts} MUSTs passed"
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentence, and one line a group."""
        left = self.requirements - self.judged
        head = f"{left} not judged:" if left else "nothing is left to judge"
        return (self.sentence, head, *(f"  {group}" for group in self.not_judged))


def headline(
    summary: RunSummary, catalogue: Catalogue, tested: Collection[str] | None = None
) -> Headline:
    """Count what the run judged of the catalogue, and group the rest by reason.

    ``tested``: the requirements that some test declares; None where that is not known.
    """
    found = summary.requirements
    judged = summary.decided
    groups: dict[NotJudgedReason, list[str]] = {}
    for name, requirement in sorted(catalogue.requirements.items()):
        if name not in judged:
            has_test = tested is None or name in tested
            reason = _reason(requirement, found.get(name), summary, has_test=has_test)
            by_clients = catalogue.areas[requirement.area].asked_by == BY_CLIENTS
            if by_clients and has_test and name not in found:
                reason = _BY_CLIENTS
            groups.setdefault(reason, []).append(name)
    musts = {one.id for one in catalogue.requirements.values() if one.level == "MUST"}
    passed = {name for name, one in found.items() if one.verdict is Verdict.PASSED}
    listed = (NotJudgedGroup(*reason, tuple(names)) for reason, names in groups.items())
    return Headline(
        requirements=len(catalogue.requirements),
        judged=len(judged & catalogue.requirements.keys()),
        musts=len(musts),
        musts_passed=len(musts & passed),
        not_judged=tuple(sorted(listed, key=lambda group: (-len(group.requirements), group.why))),
    )


def as_json(found: Headline) -> dict[str, Any]:
    """Plain JSON values; a group has its ids."""
    return {
        "requirements": found.requirements,
        "judged": found.judged,
        "musts": found.musts,
        "musts_passed": found.musts_passed,
        "not_judged": [
            {"why": one.why, "remedy": one.remedy, "requirements": list(one.requirements)}
            for one in found.not_judged
        ],
    }


_BY_CLIENTS = NotJudgedReason(
    "are judged by clients of other projects", "`kafka-conformance clients --client NAME`"
)
_WITHOUT_TEST = NotJudgedReason(
    "have no test yet", "`kafka-conformance requirements coverage` counts them by area"
)


def _reason(
    requirement: Requirement,
    found: RequirementSummary | None,
    summary: RunSummary,
    *,
    has_test: bool,
) -> NotJudgedReason:
    if found is None and not (has_test or requirement.not_judged):
        return _WITHOUT_TEST
    if found is None:
        return _without_check(requirement, summary)
    check = _deciding(found)
    return _BY_VERDICT[check.verdict](check, summary.header)


def _deciding(found: RequirementSummary) -> CheckRecord:
    """The check with the reason of the verdict.

    A set-up may lack what a case needs, while another one has it, and its broker does not offer the
    API: then no set-up helps. If it lacks something else, that is the reason: what the fewest
    set-ups lack, and of several such reasons the last one.
    """
    reasons = [one for one in found.checks if one.verdict is found.verdict]
    if found.verdict is Verdict.NOT_APPLICABLE:
        absent = {one.case: one for one in found.checks if one.verdict is Verdict.NOT_SUPPORTED}
        reasons = [one for one in reasons if one.case not in absent] or [*absent.values()]
        lacking = Counter(one.capability_missing for one in reasons)
        return min(reversed(reasons), key=lambda one: lacking[one.capability_missing])
    return reasons[0]


def _without_check(requirement: Requirement, summary: RunSummary) -> NotJudgedReason:
    if requirement.not_judged:
        return NotJudgedReason("have no test", "`kafka-conformance requirements show ID` says why")
    if summary.ended_at_first_contact:
        return NotJudgedReason("come after the first contact", "correct the first answers")
    if not summary.complete:
        return NotJudgedReason(
            "left no check, for the run is incomplete or did not select them", "run it again"
        )
    return NotJudgedReason(
        "are outside of what the run selected",
        "run without --requirement, --case and --suite, and with a target that the suites take",
    )


def _inconclusive(_check: CheckRecord, _header: RunHeader) -> NotJudgedReason:
    return NotJudgedReason("are inconclusive", "their evidence has the reasons; run them again")


def _harness_error(_check: CheckRecord, _header: RunHeader) -> NotJudgedReason:
    return NotJudgedReason("ended in a harness error", "report it, with their evidence")


def _not_supported(check: CheckRecord, header: RunHeader) -> NotJudgedReason:
    """By the dates of the catalogue, or because the broker does not offer it."""
    dated = DatedReason.read(check.reason)
    if dated is not None and dated.left_out:
        why = f"are promised since {dated.line}, and not by {dated.left_out}"
        return NotJudgedReason(why, f"--target kafka:RELEASE, any but {dated.left_out}")
    if dated is not None:
        return NotJudgedReason(
            f"are not promised by {header.release} ({dated.word} {dated.line})",
            f"--target kafka:RELEASE, {_SIDES[dated.word]} {dated.line}",
        )
    return NotJudgedReason(
        "are about APIs, versions or features that the broker does not offer",
        "a broker that offers them, as --target kafka:latest",
    )


def _not_applicable(check: CheckRecord, header: RunHeader) -> NotJudgedReason:
    capability = check.capability_missing or ""
    if capability in _TARGETS:
        return NotJudgedReason(
            _TARGETS[capability].why,
            _TARGETS[capability].remedy.format(target=header.target.split(",")[0]),
        )
    if capability in _FEATURES:
        return _FEATURES[capability]
    if rights_in(capability):
        return _LACKS_RIGHTS
    grant = _GRANTS.get(capability)
    if grant is None:
        return NotJudgedReason(
            f'need "{capability}", which this broker lacks', "a broker or release that has it"
        )
    why = f"need a broker that may be changed: {grant.why}"
    if header.target.startswith(EXTERNAL):
        return NotJudgedReason(why, f"--target {ACCESS_FILE} {grant.remedy}")
    return NotJudgedReason(why, "--target kafka:latest, or a command file with an own broker")


_STARTED = "--target kafka:RELEASE, reference or command:FILE, which start brokers"
_TARGETS: Mapping[str, NotJudgedReason] = {
    "offline": NotJudgedReason("judge documents and no broker", "--target by-document"),
    "nodes": NotJudgedReason("need several nodes", "--target {target},nodes=3"),
    "controllers": NotJudgedReason(
        "need several controllers", "--target kafka:latest,nodes=3,controllers=3"
    ),
    "own_broker": NotJudgedReason("need a private broker", _STARTED),
    "broker_config": NotJudgedReason("need a broker with settings of its own", _STARTED),
    "join_as_broker": NotJudgedReason(
        "need a broker that the harness joins", "--target kafka:latest, or reference,nodes=1"
    ),
    "links": NotJudgedReason(
        "need links between brokers that can be cut", "--target kafka:latest,nodes=3"
    ),
    "power_loss": NotJudgedReason(
        "need disks that lose power", "--target kafka:latest, as root with loop devices"
    ),
    "upgrade": NotJudgedReason("need an upgrade of the broker", "--target kafka:latest"),
}
"""By the name of the missing capability; ``{target}`` is the run's without its options."""

_LACKS_RIGHTS = NotJudgedReason(
    "need rights that the user of the run lacks",
    "give it the missing rights that are listed (docs/external.md)",
)
_OLD_FORMATS = NotJudgedReason(
    "need topics of an older record format", "--target kafka:2.8.2, or reference,like=2.8.2"
)
_FEATURES: Mapping[str, NotJudgedReason] = {
    "message.format.version": _OLD_FORMATS,
    "message.downconversion.enable": _OLD_FORMATS,
    "client": NotJudgedReason(
        "are beyond the client, which fails at another broker too or lacks the call",
        "another --client of `kafka-conformance clients`",
    ),
    "no_conversion": NotJudgedReason("need a broker that does not convert", "--target kafka:4.4.0"),
    "any_first_sequence": NotJudgedReason(
        "are about the first sequences before KIP-360",
        "--target kafka:2.4.1, or reference,like=1.1.1",
    ),
    "a broker with an authorizer": NotJudgedReason(
        "need a broker with an authorizer",
        "--target reference,authorizer=on, or kafka:latest with it",
    ),
    "a listener with SASL": NotJudgedReason(
        "need a listener with SASL",
        "--target reference,security=sasl_plaintext,mechanism=PLAIN, or kafka:latest with these",
    ),
    "a listener with TLS": NotJudgedReason(
        "need a listener with TLS",
        "--target reference,security=ssl,authorizer=on, or kafka:latest with these",
    ),
}
"""By the name of a feature that some releases, or some listeners, alone have."""

_GRANTS: Mapping[str, NotJudgedReason] = {
    "create_topics": NotJudgedReason("topics", "create_topics = true"),
    "read requests": NotJudgedReason("requests that read", 'safety = ["read"]'),
    "own-names requests": NotJudgedReason("objects", 'safety = ["read", "own-names"]'),
    "stop_node": NotJudgedReason("stop", "commands.stop and commands.restart"),
    "kill_node": NotJudgedReason("kill", "commands.kill and commands.restart"),
    "pause_node": NotJudgedReason("pause", "commands.pause and commands.resume"),
    "restart_node": NotJudgedReason("restart", "commands.restart"),
    "disconnect_node": NotJudgedReason("disconnect", "commands.disconnect and commands.reconnect"),
    "log_directory": NotJudgedReason("read its log folders", "[log_directories]"),
    "logs": NotJudgedReason("read what it prints", "[logs]"),
}
"""What an access file can grant, by the name of the capability."""

OF_TARGET = frozenset(_TARGETS) | frozenset(_GRANTS)
"""The capabilities that follow from the target's string and its access file."""

_BY_VERDICT: Mapping[Verdict, Callable[[CheckRecord, RunHeader], NotJudgedReason]] = {
    Verdict.INCONCLUSIVE: _inconclusive,
    Verdict.HARNESS_ERROR: _harness_error,
    Verdict.NOT_SUPPORTED: _not_supported,
    Verdict.NOT_APPLICABLE: _not_applicable,
}

"""Profiles: what is known to fail, why, until when; and what must be there.

A profile is a TOML file::

    profile_version = 1

    [[known_failure]]
    requirement = "PROD-011"
    reason = "the crc is checked on the follower only"
    target = "external:*"                     # optional, default every target: a pattern, or
                                              # a range of releases, kafka:0.8.0..0.9.0.1
    link = "https://example.org/issues/77"    # optional
    expires = 2027-01-31                      # optional; the last day on which it holds
    matches = "CORRUPT_MESSAGE"               # optional; regular expression, searched

    [[present]]
    target = "external:*"                     # optional; a pattern, default every target
    requirements = ["APIV-001", "PROD-011"]   # must be judged in the run

A range means every target of those releases, whatever stands behind the release; with options,
``kafka:2.8.2..3.9.2,mode=zk``, those that have them (``kafka:2.8.2`` runs with ZooKeeper).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.conformance.catalogue import Catalogue, UnknownRequirementError
from harness.conformance.kafka_name import NotARange, kafka_name, kafka_range, plain_targets
from harness.conformance.reason_pattern import pattern_of
from harness.conformance.summary import RequirementSummary, RunSummary
from harness.conformance.toml_entry import TomlEntry, load_table
from harness.conformance.verdict import BROKEN, JUDGED, Verdict

if TYPE_CHECKING:
    from tomlkit.items import Table

PROFILE_VERSION = 1
EVERY_TARGET = "*"


class ProfileError(ValueError):
    """A profile is wrong; the message says which file, which entry and what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFailure:
    """A requirement that is known to fail; it still runs.

    Attributes:
        requirement: a MUST of the catalogue, or a SHOULD, which fails in a strict gate alone.
        reason: why, for people.
        target: pattern of the targets that it is about.
        link: where it is tracked.
        expires: the last day on which the entry holds, None for no end.
        matches: searched in the reason of each failed check, which begins with the name of the
            subtest if it has one; one that does not match is another, unexpected failure. With it,
            the entry also covers a requirement that is inconclusive for such reasons alone: what
            is broken elsewhere leaves it undecided.
    """

    requirement: str
    reason: str
    target: str = EVERY_TARGET
    link: str | None = None
    expires: date | None = None
    matches: re.Pattern[str] | None = None

    def expired(self, today: date) -> bool:
        """The last day is over."""
        return self.expires is not None and today > self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """Requirements that must be judged in each run of a target, so that none vanishes unseen."""

    requirements: tuple[str, ...]
    target: str = EVERY_TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Known failures and what must be present."""

    known_failures: tuple[KnownFailure, ...] = ()
    present: tuple[Present, ...] = ()

    def known_failures_of(self, target: str) -> dict[str, KnownFailure]:
        """The entries for one target, by requirement.

        A cluster of two releases has those of both, of the older one where both have one; a
        migrating one has those of the mode of its brokers.

        Raises:
            ProfileError: two entries speak about the same requirement of this target.
        """
        found = self._known_failures_of(target)
        for each in plain_targets(target):
            found = {**self._known_failures_of(each), **found}
        return found

    def _known_failures_of(self, target: str) -> dict[str, KnownFailure]:
        found: dict[str, KnownFailure] = {}
        for entry in self.known_failures:
            if not target_matches(target, entry.target):
                continue
            other = found.setdefault(entry.requirement, entry)
            if other is not entry:
                raise ProfileError(
                    f"contradictory entries: {entry.requirement} of {target} is meant by "
                    f'target = "{other.target}" and by target = "{entry.target}"; keep one'
                )
        return found

    def present_of(self, target: str) -> tuple[str, ...]:
        """The requirements that must be judged for one target, sorted."""
        wanted = (p for p in self.present if target_matches(target, p.target))
        return tuple(sorted({name for entry in wanted for name in entry.requirements}))

    def patterns(self) -> tuple[str, ...]:
        """All target patterns, each once."""
        named = [entry.target for entry in self.known_failures]
        return tuple(dict.fromkeys([*named, *(entry.target for entry in self.present)]))


def target_matches(target: str, pattern: str) -> bool:
    """True if the pattern is the target's string, a range with its release, or a matching glob."""
    releases = kafka_range(pattern)
    if releases is not None:
        return kafka_name(target) in releases
    return target == pattern or fnmatchcase(target, pattern)


def load_profile(path: Path, catalogue: Catalogue) -> Profile:
    """Read and check a profile.

    Raises:
        ProfileError: unreadable, an unknown key or requirement (with the nearest known one), a
            wrong type, a duplicate, or a contradiction.
    """
    whole = load_table(path, ProfileError)
    whole.fixed("profile_version", PROFILE_VERSION)
    failures = tuple(
        _known_failure(entry, catalogue) for entry in whole.optional_entries("known_failure")
    )
    present = tuple(_present(entry, catalogue) for entry in whole.optional_entries("present"))
    whole.finish()
    _refuse_overlap(path, failures)
    targets = [entry.target for entry in present]
    for target in targets:
        if targets.count(target) > 1:
            raise ProfileError(f'{path}: present: target "{target}" occurs twice; make it one list')
    return Profile(known_failures=failures, present=present)


def _known_failure(entry: TomlEntry, catalogue: Catalogue) -> KnownFailure:
    requirement = _known_id(entry.text("requirement"), entry, catalogue)
    entry.named(requirement)
    level = catalogue.requirement(requirement).level
    if level == "MAY":
        raise entry.error(
            f"{entry.where}: requirement: is a MAY, which never fails; the entry says nothing"
        )
    pattern = entry.optional_text("matches")
    try:
        matches = None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise ProfileError(f"{entry.where}: matches: is no regular expression: {error}") from error
    failure = KnownFailure(
        requirement=requirement,
        reason=entry.text("reason"),
        target=_target(entry),
        link=entry.optional_text("link", pattern=r"https?://\S+"),
        expires=entry.optional_date("expires"),
        matches=matches,
    )
    entry.finish()
    return failure


def _present(entry: TomlEntry, catalogue: Catalogue) -> Present:
    present = Present(
        requirements=tuple(_known_id(n, entry, catalogue) for n in entry.texts("requirements")),
        target=_target(entry),
    )
    entry.finish()
    return present


def _target(entry: TomlEntry) -> str:
    pattern = entry.optional_text("target") or EVERY_TARGET
    try:
        kafka_range(pattern)
    except NotARange as error:
        raise ProfileError(f"{entry.where}: target: {error}") from error
    return pattern


def _known_id(requirement: str, entry: TomlEntry, catalogue: Catalogue) -> str:
    try:
        return catalogue.requirement(requirement).id
    except UnknownRequirementError as error:
        raise ProfileError(f"{entry.where}: {error}") from error


def _refuse_overlap(path: Path, failures: tuple[KnownFailure, ...]) -> None:
    """Refuse what is surely about the same target; patterns that merely may overlap are left to
    `Profile.known_failures_of`, which knows the targets."""
    targets: dict[str, set[str]] = {}
    for failure in failures:
        others = targets.setdefault(failure.requirement, set())
        where = f"{path}: known_failure: {failure.requirement}"
        if failure.target in others:
            raise ProfileError(f'{where} occurs twice for target "{failure.target}"')
        if others and EVERY_TARGET in {failure.target, *others}:
            raise ProfileError(
                f"{where}: contradictory: one entry is for every target, another for a single one"
            )
        others.add(failure.target)


def draft_profile(summaries: Iterable[RunSummary], *, strict: bool = False) -> str:
    """Write down the present state as a profile: what fails is known, what is judged is present.

    With a single target the entries hold for every target, so that a changing port does not
    matter; with several each entry names its own. ``strict``: a SHOULD that does not hold is an
    entry too.

    Returns:
        the text of the file.
    """
    import tomlkit

    runs = sorted(summaries, key=lambda run: run.header.target)
    document = tomlkit.document()
    document.add(tomlkit.comment("Each reason is a draft: say why, and add link and expires."))
    document.add("profile_version", tomlkit.item(PROFILE_VERSION))
    failures, present = tomlkit.aot(), tomlkit.aot()
    for run in runs:
        target = EVERY_TARGET if len(runs) == 1 else run.header.target
        for one in run.requirements.values():
            if one.verdict in (BROKEN if strict else {Verdict.FAILED}):
                failures.append(_draft_entry(one, target, run.header.run))
        judged = [name for name, one in run.requirements.items() if one.verdict in JUDGED]
        if judged:
            present.append(_table(target=target, requirements=judged))
    if failures:
        document.append("known_failure", failures)
    if present:
        document.append("present", present)
    return tomlkit.dumps(document)


def _draft_entry(one: RequirementSummary, target: str, run: str) -> Table:
    """An entry that covers the reasons of the checks that do not hold, and no others."""
    reasons = [check.text for check in one.checks if check.verdict is one.verdict]
    first_line = (reasons[0].splitlines() or ["no reason was recorded"])[0]
    told = {"target": target, "reason": f"seen in run {run}: {first_line}"}
    matches = pattern_of(reasons)
    return _table(requirement=one.requirement, **told, **({"matches": matches} if matches else {}))


def _table(**values: str | list[str]) -> Table:
    import tomlkit

    table = tomlkit.table()
    for key, value in values.items():
        item: Any = tomlkit.item(value)
        if isinstance(value, str) and "\\" in value and value.isprintable() and "'" not in value:
            item = tomlkit.string(value, literal=True)
        if isinstance(item, tomlkit.items.Array):
            item.multiline(True)
        table.add(key, item)
    return table

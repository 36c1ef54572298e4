"""The catalogue of requirements: frozen values read from one TOML file per area."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from harness.base.suggestion import did_you_mean
from harness.conformance.toml_entry import TomlEntry, load_table

REQUIREMENTS_FOLDER = Path(__file__).parent / "requirements"

LEVELS = ("MUST", "SHOULD", "MAY")
ASKED_BY = BY_HARNESS, BY_CLIENTS = ("harness", "clients")

NEEDS = MappingProxyType(
    {
        "1B": "one broker",
        "MB": "several brokers",
        "FI": "fault injection on links",
        "RC": "restart or kill control of broker processes",
        "LD": "log directory access",
        "IB": "the harness speaks on the inter-broker or controller listener",
        "SEC": "a SASL, TLS or ACL listener",
        "CFG": "a non-default static broker configuration",
        "T": "waiting for retention, expiry or quota windows",
        "OFF": "no broker at all",
    }
)
"""Conditions that a requirement can need, by their short names."""

_RELEASE = r"\d+\.(\d+(\.\d+)?|x)"
_PATCH_RELEASE = r"\d+(\.\d+){2,3}"
_ID = r"[A-Z][A-Z0-9]*-\d{3}"


class CatalogueError(ValueError):
    """A catalogue file is wrong; the message says which file, which entry and what."""


class UnknownRequirementError(LookupError):
    """An id that is not in the catalogue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One checkable sentence.

    Attributes:
        id: area and number, stable and never reused, e.g. ``PROD-011``.
        area: the prefix of the id; one file of the catalogue.
        level: ``MUST``, ``SHOULD`` or ``MAY``. A MUST is documented or asserted by Kafka's own
            tests; a SHOULD depends on timing, implementation or features.
        statement: the promise, in our words.
        source: KIP, Kafka class or test, ticket, or document section.
        since: first Kafka release that keeps it (``2.4``, ``2.x``), ``-`` where none applies.
        until: last release series that keeps it (``3.x``), None while it still holds.
        not_in: releases (``4.0.0``) between these two that do not keep it.
        since_version, until_version: API versions between which it is visible, where one is known.
        since_note: what the release alone does not say.
        observe: how one sees it, in a few words.
        needs: keys of `NEEDS`.
        was: older wordings, oldest first; a correction never erases one.
        corrected_by: the KIP, Kafka class or ticket that showed the older wording wrong.
        seen_on: the releases (two at least) on which the present wording was seen to hold.
        not_judged: a written reason why no test judges it, None otherwise.
    """

    id: str
    area: str
    level: str
    statement: str
    source: str
    since: str
    until: str | None
    not_in: tuple[str, ...]
    since_version: int | None
    until_version: int | None
    since_note: str | None
    observe: str
    needs: frozenset[str]
    was: tuple[str, ...]
    corrected_by: str | None
    seen_on: tuple[str, ...]
    not_judged: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """One area: its prefix, its title and the ids in it, in order.

    ``asked_by``: ``harness``, the requests of which judge it, or ``clients``, the clients of other
    projects, which `kafka-conformance clients` runs: its requirements are judged by pairs of a
    client and a broker, and proved by defects of their own (labs/client_defects).
    """

    name: str
    title: str
    requirements: tuple[str, ...]
    asked_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All requirements of one catalogue version.

    Attributes:
        version: names a frozen set, e.g. ``2026.1``; results compare only within one version.
        meaning: the sentence that says what a version stands for.
        requirements: by id, in catalogue order.
        areas: by name, in catalogue order.
    """

    version: str
    meaning: str
    requirements: Mapping[str, Requirement]
    areas: Mapping[str, Area]

    def requirement(self, requirement_id: str) -> Requirement:
        """Return one requirement.

        Raises:
            UnknownRequirementError: no such id; the message names the nearest one.
        """
        found = self.requirements.get(requirement_id)
        if found is None:
            raise UnknownRequirementError(
                f'requirement "{requirement_id}" is not in catalogue {self.version}'
                f"{did_you_mean(requirement_id, self.requirements)}"
            )
        return found


@lru_cache(maxsize=8)
def load_catalogue(folder: Path = REQUIREMENTS_FOLDER) -> Catalogue:
    """Read and check the whole catalogue.

    Args:
        folder: holds ``catalogue.toml`` (version, meaning, order of areas) and ``<AREA>.toml``.

    Raises:
        CatalogueError: anything missing, unknown, of a wrong type, duplicate or contradictory;
            the message says what, in which file and in which entry.
    """
    whole = load_table(folder / "catalogue.toml", CatalogueError)
    version = whole.text("version", pattern=r"\d{4}\.\d+")
    meaning = whole.text("meaning")
    names = whole.texts("areas")
    whole.finish()
    _require_same_files(folder, names)
    areas: dict[str, Area] = {}
    requirements: dict[str, Requirement] = {}
    for name in names:
        title, asked_by, listed = _load_area(folder / f"{name}.toml", name)
        ids = tuple(r.id for r in listed)
        areas[name] = Area(name=name, title=title, requirements=ids, asked_by=asked_by)
        requirements.update((r.id, r) for r in listed)
    return Catalogue(
        version=version,
        meaning=meaning,
        requirements=MappingProxyType(requirements),
        areas=MappingProxyType(areas),
    )


def _require_same_files(folder: Path, names: tuple[str, ...]) -> None:
    present = {path.stem for path in folder.glob("*.toml")} - {"catalogue"}
    for name in sorted(present ^ set(names)):
        wrong = "stands beside it but is not listed" if name in present else "does not exist"
        raise CatalogueError(f"{folder / 'catalogue.toml'}: areas: {name}.toml {wrong}")


def _load_area(path: Path, name: str) -> tuple[str, str, list[Requirement]]:
    table = load_table(path, CatalogueError)
    if table.text("area") != name:
        raise CatalogueError(f'{path}: area: must be "{name}", as the file is named')
    title = table.text("title")
    asked_by = table.optional_text("asked_by", pattern="|".join(ASKED_BY)) or BY_HARNESS
    entries = table.entries("requirement")
    table.finish()
    requirements: list[Requirement] = []
    seen: set[str] = set()
    for entry in entries:
        requirement = _requirement(entry, name)
        if requirement.id in seen:
            raise CatalogueError(f"{entry.where}: id {requirement.id} occurs twice")
        seen.add(requirement.id)
        requirements.append(requirement)
    return title, asked_by, requirements


def _requirement(entry: TomlEntry, area: str) -> Requirement:
    requirement_id = entry.text("id", pattern=_ID)
    entry.named(requirement_id)
    if requirement_id.rpartition("-")[0] != area:
        raise CatalogueError(f"{entry.where}: id: does not belong to area {area}")
    requirement = Requirement(
        id=requirement_id,
        area=area,
        level=entry.text("level", among=LEVELS),
        statement=entry.text("statement"),
        source=entry.text("source"),
        since=entry.text("since", pattern=rf"{_RELEASE}|-"),
        until=entry.optional_text("until", pattern=_RELEASE),
        not_in=entry.optional_texts("not_in", pattern=_PATCH_RELEASE),
        since_version=entry.optional_version("since_version"),
        until_version=entry.optional_version("until_version"),
        since_note=entry.optional_text("since_note"),
        observe=entry.text("observe"),
        needs=frozenset(entry.texts("needs", among=NEEDS)),
        was=entry.optional_texts("was"),
        corrected_by=entry.optional_text("corrected_by"),
        seen_on=entry.optional_texts("seen_on", pattern=_RELEASE),
        not_judged=entry.optional_text("not_judged"),
    )
    entry.finish()
    _require_whole_correction(requirement, entry.where)
    return requirement


def _require_whole_correction(requirement: Requirement, where: str) -> None:
    parts = (requirement.was, requirement.corrected_by, requirement.seen_on)
    if not any(parts):
        return
    if not all(parts):
        raise CatalogueError(f"{where}: a correction needs was, corrected_by and seen_on together")
    if len(requirement.seen_on) < 2:
        raise CatalogueError(f"{where}: seen_on: a correction is seen on two releases at least")
    if requirement.statement in requirement.was:
        raise CatalogueError(f"{where}: was: holds the present statement")

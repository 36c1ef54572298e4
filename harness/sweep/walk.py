"""The sweep: the steps, their order and targets, and all answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from uuid import uuid4

from harness.base.own_names import DEFAULT_PREFIX, sweep_name
from harness.client.connection import Address
from harness.client.placeholder_versions import placeholder_of
from harness.codec.apis import APIS, Api
from harness.codec.versions import VersionRange
from harness.conformance.harmless_requests import Safety
from harness.sweep.asking import SweepAnswer, SweepOutcome, ask
from harness.sweep.requests import OwnNames, harmless_request, safety_of

NO_BROKER_OF_OURS = "destructive: goes only to a broker that is started to be thrown away"


@dataclass(frozen=True, slots=True)
class SweepStep:
    """One version of one API."""

    api: Api
    version: int

    @property
    def safety(self) -> Safety:
        """As the table of harmless requests says."""
        return safety_of(self.api.name)


@dataclass(frozen=True, slots=True)
class Own:
    """A target's limits for a sweep: the safety classes that it allows, and the prefix of names."""

    safety: frozenset[str] = frozenset(Safety)
    prefix: str = DEFAULT_PREFIX


ANYTHING = Own()


def steps(
    advertised: Mapping[int, VersionRange] | None = None, only: Collection[str] = ()
) -> list[SweepStep]:
    """Every released version that the schemas know, and with ``advertised`` the target too.

    ``only``: names of APIs, all of them when empty.
    """
    found = []
    for api in APIS.values():
        if only and api.name not in only:
            continue
        versions = api.valid_versions
        if advertised is not None:
            if api.key not in advertised:
                continue
            versions &= advertised[api.key]
        found += [SweepStep(api, v) for v in versions if v not in api.unstable_versions]
    return found


def new_names(prefix: str = DEFAULT_PREFIX) -> OwnNames:
    """Return a name and an id that nothing uses."""
    return OwnNames(sweep_name(prefix), uuid4())


def sweep(
    wanted: Collection[SweepStep],
    shared: Address,
    discarded: Callable[[], Address] | None,
    timeout_ms: float,
    advertised: Mapping[int, VersionRange],
    own: Own = ANYTHING,
) -> Iterator[SweepAnswer]:
    """Send the request of each step on a connection of its own, in order.

    Args:
        shared: the target, which others may use.
        discarded: called for each destructive step, returns the address of a broker that is thrown
            away; None where we cannot start one, then these steps are not sent.
        timeout_ms: of each answer.
        advertised: by the target; it shows which versions are placeholders.
        own: the requests that the target allows, and the prefix of names there.
    """
    for step in wanted:
        if step.safety not in own.safety and step.safety is not Safety.DESTRUCTIVE:
            note = f"{step.safety}: the target does not grant such requests"
            yield SweepAnswer(step.api.name, step.version, SweepOutcome.NOT_SENT, note=note)
            continue
        address: Address | None = shared
        if step.safety is Safety.DESTRUCTIVE:
            address = discarded() if discarded is not None else None
        if address is None:
            name = step.api.name
            yield SweepAnswer(name, step.version, SweepOutcome.NOT_SENT, note=NO_BROKER_OF_OURS)
            continue
        request = harmless_request(step.api.name, step.version, new_names(own.prefix))
        row = placeholder_of(advertised, step.api.name)
        placeholder = row.source if row is not None and step.version in row.versions else ""
        yield ask(address, request, step.version, timeout_ms, placeholder)

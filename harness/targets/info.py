"""The properties of a started target: queried once, passed to every test process as JSON."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.base.address import Address
from harness.base.own_names import DEFAULT_PREFIX
from harness.security.settings import SecurityProtocol
from harness.targets.asking import (
    AnswerPace,
    ApiVersionRanges,
    advertises,
    ask_api_versions,
    ask_cluster,
    measure_pace,
)
from harness.targets.by_document import ByDocument
from harness.targets.errors import TargetStartError
from harness.targets.external import ExternalBroker
from harness.targets.not_answered import NotAnswered, WantsAuthentication
from harness.targets.observed_versions import observe_versions
from harness.targets.secured_cluster import SecuredWay
from harness.targets.target import SAFETY_CLASSES, TIME_SCALE_LIMIT, Target

ANSWER_TIMEOUT_MS = 30_000
METADATA_TIMEOUT_MS = 10_000
ROUND_TRIP_BASELINE_MS = 5.0
FIRST_ANSWER_BASELINE_MS = 25.0
"""Baselines: about twice what a just-started Apache Kafka 4.4.0 needs on two shared cores."""
OBSERVE_STEP_MS = 200
OBSERVE_TIMEOUT_MS = 1_500
ADVERTISED, OBSERVED = "advertised", "observed"


@dataclass(frozen=True)
class TargetInfo:
    """A started target, as plain data.

    ``api_versions``: api key -> (lowest, highest) advertised; for a broker that does not answer
    ApiVersions (0.8, 0.9) those that it was seen to serve, and ``versions_source`` is then
    :data:`OBSERVED`. ``time_scale``: what every wait of a test is multiplied by, see
    :func:`time_scale`. ``log_path``: None without a log. ``zookeeper``: as in Target.
    ``safety``, ``name_prefix``, ``like``, ``newer``, ``nodes``, ``reached`` and ``secured`` as in
    :class:`Target`.
    """

    spec: str
    implementation: str
    release: str
    addresses: tuple[Address, ...]
    api_versions: dict[int, tuple[int, int]]
    capabilities: frozenset[str]
    time_scale: float
    log_path: str | None
    versions_source: str = ADVERTISED
    zookeeper: Address | None = None
    safety: frozenset[str] = frozenset(SAFETY_CLASSES)
    name_prefix: str = DEFAULT_PREFIX
    like: str = ""
    newer: str = ""
    nodes: tuple[int, ...] = ()
    reached: Mapping[Address, Address] = field(default_factory=dict)
    secured: SecuredWay | None = None

    @property
    def is_broker(self) -> bool:
        """True if there is an address to ask; by-document has none."""
        return bool(self.addresses)

    def to_json(self) -> str:
        """One line of JSON, read again by :meth:`from_json`."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        fields["capabilities"] = sorted(self.capabilities)
        fields["safety"] = sorted(self.safety)
        fields["reached"] = list(self.reached.items())
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> TargetInfo:
        """Raises ValueError or KeyError on anything that :meth:`to_json` did not write."""
        fields = json.loads(text)
        return cls(
            spec=fields["spec"],
            implementation=fields["implementation"],
            release=fields["release"],
            addresses=tuple(Address(host, port) for host, port in fields["addresses"]),
            api_versions={
                int(key): (low, high) for key, (low, high) in fields["api_versions"].items()
            },
            capabilities=frozenset(fields["capabilities"]),
            time_scale=fields["time_scale"],
            log_path=fields["log_path"],
            versions_source=fields["versions_source"],
            zookeeper=None if fields["zookeeper"] is None else Address(*fields["zookeeper"]),
            safety=frozenset(fields["safety"]),
            name_prefix=fields["name_prefix"],
            like=fields["like"],
            newer=fields["newer"],
            nodes=tuple(fields["nodes"]),
            reached={Address(*shown): Address(*here) for shown, here in fields["reached"]},
            secured=_secured(fields["secured"]),
        )


def probe(target: Target) -> TargetInfo:
    """Learn what a started target serves and measure how quickly it answers.

    All its addresses are asked: the versions are those that every one of them advertises (or, by
    one that does not advertise, was seen to serve), the pace is that of the slowest. Raises
    TargetStartError when one does not answer.
    """
    asked, is_given = [], isinstance(target, ExternalBroker)
    for address in target.addresses:
        try:
            asked.append(_ask(address, target.round_trips, is_given=is_given))
        except NotAnswered as problem:
            raise TargetStartError(f"{target.spec}: {problem.at(address)}") from problem
    if not asked and not isinstance(target, ByDocument):
        raise TargetStartError(f"{target.spec} is not started")
    return TargetInfo(
        spec=target.spec,
        implementation=target.implementation,
        release=target.release,
        addresses=tuple(target.addresses),
        api_versions=_common([each.ranges for each in asked]),
        capabilities=target.capabilities,
        time_scale=min(max((one.scale for one in asked), default=1.0), target.time_scale_limit),
        log_path=str(target.log_path) if target.log_path else None,
        versions_source=ADVERTISED if all(each.advertised for each in asked) else OBSERVED,
        zookeeper=target.zookeeper,
        safety=target.safety,
        name_prefix=target.name_prefix,
        like=target.like,
        newer=target.newer,
        nodes=tuple(target.nodes),
        reached=dict(target.reached),
        secured=target.secured,
    )


def _secured(fields: Any) -> SecuredWay | None:
    if fields is None:
        return None
    file, places, protocol = fields
    at = tuple(Address(*each) for each in places)
    return SecuredWay(file, at, SecurityProtocol(protocol))


class _Asked(NamedTuple):
    """One broker."""

    advertised: bool
    ranges: ApiVersionRanges
    scale: float


def _ask(address: Address, round_trips: int, *, is_given: bool) -> _Asked:
    """Ask one broker. Raises NotAnswered.

    ``is_given``: the address was given, and may be that of a listener for other clients. A broker
    that was started here has answered Metadata at this address before.
    """
    advertised = advertises(address, ANSWER_TIMEOUT_MS)
    if advertised and is_given:
        _require_client_listener(address)
    pace = measure_pace(address, ANSWER_TIMEOUT_MS, round_trips, advertised=advertised)
    scale = time_scale(pace)
    if advertised:
        ranges = ask_api_versions(address, ANSWER_TIMEOUT_MS)
    else:
        ranges = observe_versions(
            address, int(OBSERVE_STEP_MS * scale), int(OBSERVE_TIMEOUT_MS * scale)
        )
    return _Asked(advertised, ranges, scale)


def _require_client_listener(address: Address) -> None:
    """Raises WantsAuthentication; the tests find out what else is wrong with Metadata."""
    try:
        ask_cluster(address, METADATA_TIMEOUT_MS)
    except WantsAuthentication:
        raise
    except NotAnswered:
        return


def _common(ranges: Sequence[dict[int, tuple[int, int]]]) -> dict[int, tuple[int, int]]:
    """Per api key the versions that all brokers advertise; keys without such are left out."""
    common: dict[int, tuple[int, int]] = {}
    for key in sorted(set.intersection(*map(set, ranges)) if ranges else ()):
        low = max(each[key][0] for each in ranges)
        high = min(each[key][1] for each in ranges)
        if low <= high:
            common[key] = (low, high)
    return common


def time_scale(pace: AnswerPace) -> float:
    """The factor for waits: max(1, median round trip / 5 ms, first answer / 25 ms), at most 20.

    The median is that of several requests on one connection; the first answer counts from the
    connect, and shows a slow start, a far network or a busy machine. Rounded to two digits.
    """
    median = statistics.median(pace.round_trips_ms)
    factor = max(
        1.0, median / ROUND_TRIP_BASELINE_MS, pace.first_answer_ms / FIRST_ANSWER_BASELINE_MS
    )
    return round(min(factor, TIME_SCALE_LIMIT), 2)

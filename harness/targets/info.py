"""What is known of a started target: asked once, handed to every test process as JSON."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from harness.own_names import DEFAULT_PREFIX
from harness.targets.asking import NotAnswered, Pace, ask_api_versions, measure_pace
from harness.targets.errors import TargetStartError
from harness.targets.target import SAFETY_CLASSES, Address, Target

ANSWER_TIMEOUT_MS = 30_000
ROUND_TRIPS = 20
ROUND_TRIP_BASELINE_MS = 5.0
FIRST_ANSWER_BASELINE_MS = 25.0
TIME_SCALE_LIMIT = 20.0
"""Baselines: about twice what a just-started Apache Kafka 4.4.0 needs on two shared cores."""


@dataclass(frozen=True)
class TargetInfo:
    """A started target, as plain data.

    ``api_versions``: api key -> (lowest, highest) advertised. ``time_scale``: what every wait of
    a test is multiplied by, see :func:`time_scale`. ``log_path``: None without a log. ``safety``
    and ``name_prefix`` as in :class:`Target`.
    """

    spec: str
    implementation: str
    release: str
    addresses: tuple[Address, ...]
    api_versions: dict[int, tuple[int, int]]
    capabilities: frozenset[str]
    time_scale: float
    log_path: str | None
    safety: frozenset[str] = frozenset(SAFETY_CLASSES)
    name_prefix: str = DEFAULT_PREFIX

    def to_json(self) -> str:
        """One line of JSON, read again by :meth:`from_json`."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        fields["capabilities"] = sorted(self.capabilities)
        fields["safety"] = sorted(self.safety)
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
            safety=frozenset(fields["safety"]),
            name_prefix=fields["name_prefix"],
        )


def probe(target: Target) -> TargetInfo:
    """Ask a started target for its ApiVersions and measure how quickly it answers.

    All its addresses are asked: the versions are those that every one of them advertises, the
    pace is that of the slowest. Raises TargetStartError when one does not answer.
    """
    ranges, scales = [], []
    for address in target.addresses:
        try:
            ranges.append(ask_api_versions(address, ANSWER_TIMEOUT_MS))
            scales.append(time_scale(measure_pace(address, ANSWER_TIMEOUT_MS, ROUND_TRIPS)))
        except NotAnswered as problem:
            raise TargetStartError(
                f"{target.spec}: the broker at {address} cannot be asked: {problem}"
            ) from problem
    if not ranges:
        raise TargetStartError(f"{target.spec} is not started")
    return TargetInfo(
        spec=target.spec,
        implementation=target.implementation,
        release=target.release,
        addresses=tuple(target.addresses),
        api_versions=_common(ranges),
        capabilities=target.capabilities,
        time_scale=max(scales),
        log_path=str(target.log_path) if target.log_path else None,
        safety=target.safety,
        name_prefix=target.name_prefix,
    )


def _common(ranges: Sequence[dict[int, tuple[int, int]]]) -> dict[int, tuple[int, int]]:
    """Per api key the versions that all brokers advertise; keys without such are left out."""
    common: dict[int, tuple[int, int]] = {}
    for key in sorted(set.intersection(*(set(each) for each in ranges))):
        low = max(each[key][0] for each in ranges)
        high = min(each[key][1] for each in ranges)
        if low <= high:
            common[key] = (low, high)
    return common


def time_scale(pace: Pace) -> float:
    """The factor for waits: max(1, median round trip / 5 ms, first answer / 25 ms), at most 20.

    The median is that of :data:`ROUND_TRIPS` ApiVersions requests on one connection; the first
    answer counts from the connect, and shows a slow start, a far network or a busy machine.
    Rounded to two digits. The limit keeps the deadlines of a broken target finite.
    """
    median = statistics.median(pace.round_trips_ms)
    factor = max(
        1.0, median / ROUND_TRIP_BASELINE_MS, pace.first_answer_ms / FIRST_ANSWER_BASELINE_MS
    )
    return round(min(factor, TIME_SCALE_LIMIT), 2)

"""The release that the specification is like, by the product and release of the target."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.base.address import Address
from harness.conformance.dated import APACHE_KAFKA
from harness.conformance.outcome import NotApplicable
from harness.oracle.likeness import RELEASES, Likeness, likeness_of
from harness.targets.info import TargetInfo
from harness.targets.reference import ReferenceBroker
from harness.targets.target import CREATE_TOPICS

INFO = TargetInfo(
    spec="kafka:4.4.0",
    implementation=APACHE_KAFKA,
    release="4.4.0",
    addresses=(Address("127.0.0.1", 1),),
    api_versions={},
    capabilities=frozenset(),
    time_scale=1.0,
    log_path=None,
)
ELSEWHERE = replace(
    INFO,
    spec="external:127.0.0.1:1",
    implementation="external",
    release="unknown",
    safety=frozenset({"read", "own-names"}),
    capabilities=frozenset({CREATE_TOPICS}),
)


@pytest.mark.parametrize("release", RELEASES)
def test_kafka_is_compared_with_specification_like_its_release(release: str) -> None:
    assert likeness_of(replace(INFO, release=release)) == Likeness(release, INFO.spec)


@pytest.mark.parametrize("release", ["0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2"])
def test_kafka_with_zookeeper_has_specification(release: str) -> None:
    spec = f"kafka:{release}"
    info = replace(INFO, spec=spec, release=release, zookeeper=Address("127.0.0.1", 2))
    assert likeness_of(info) == Likeness(release, spec)


@pytest.mark.parametrize("like", ["", "2.8.2"])
def test_built_in_broker_is_compared_with_specification_like_itself(like: str) -> None:
    info = replace(INFO, implementation=ReferenceBroker.implementation, like=like)
    assert likeness_of(info).like == like


def test_other_product_is_compared_with_specification_like_newest_release() -> None:
    info = replace(INFO, implementation="other", release="1.0")
    assert likeness_of(info) == Likeness(RELEASES[-1], INFO.spec)


def test_broker_elsewhere_is_compared_as_kafka() -> None:
    assert likeness_of(ELSEWHERE) == Likeness("4.4.0", "kafka:4.4.0", is_elsewhere=True)


def test_kafka_elsewhere_is_compared_with_specification_like_its_release() -> None:
    info = replace(ELSEWHERE, implementation=APACHE_KAFKA, release="3.9.2")
    assert likeness_of(info) == Likeness("3.9.2", "kafka:3.9.2", is_elsewhere=True)


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (
            replace(INFO, release="3.7.0"),
            "the specification is like 0.10.2.2, 0.11.0.3, 1.1.1, 2.8.2, 3.9.2, 4.4.0 only",
        ),
        (replace(INFO, nodes=(1, 2, 3)), "single broker"),
        (replace(INFO, spec="kafka:4.4.0,set.num.partitions=3"), "default settings"),
        (
            replace(INFO, release="3.9.2", zookeeper=Address("127.0.0.1", 2)),
            "without a ZooKeeper",
        ),
        (replace(INFO, addresses=(INFO.addresses[0],) * 2), "single broker"),
        (replace(ELSEWHERE, safety=frozenset({"read"})), "topics and groups of their own"),
        (replace(ELSEWHERE, capabilities=frozenset()), "topics and groups of their own"),
    ],
)
def test_target_without_specification_is_not_applicable(info: TargetInfo, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        likeness_of(info)

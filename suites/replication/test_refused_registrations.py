"""BROK: registrations that contradict another broker, or the features of the cluster."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ApiVersionsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import FIRST_WITH_LOG_DIRS, Feature
from suites.replication.support.expect import expect_error

WITH_FEATURES = "3+"
METADATA_VERSION, UNUSED = "metadata.version", "unused.version"


@judges("BROK-021")
@needs_broker(Use.JOINABLE)
def test_registration_with_directory_of_another_broker_returns_invalid_registration(
    peers: JoinedCluster,
) -> None:
    """That broker is alive, or fenced; the directory is the second of two."""
    alive, fenced, newcomer = peers.joined(), peers.joined(), peers.newcomer()
    if newcomer.controller.version("BrokerRegistration") < FIRST_WITH_LOG_DIRS:
        raise ApiNotAdvertised("BrokerRegistration below v2 has no log directories")
    fenced.leave()
    with requirement("BROK-021") as check:
        for what, holder in (("alive", alive), ("fenced", fenced)):
            with check.subtest(what):
                request = newcomer.registration()
                request.log_dirs = [*newcomer.log_dirs, *holder.log_dirs]
                found = newcomer.ask_to_register(request).error_code
                expect_error(found, ErrorCode.INVALID_REGISTRATION, f"a directory, {what}")
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "its own directory")
        again = alive.ask_to_register().error_code
        expect_error(again, ErrorCode.NONE, "the directory of the same broker")


@judges("BROK-022")
@needs_broker(Use.JOINABLE)
def test_registration_without_finalized_feature_returns_unsupported_version(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """The broker does not list one feature that the cluster uses; each but metadata.version, which
    has a rule of its own.
    """
    newcomer, used = peers.newcomer(), _used_features(broker)
    with requirement("BROK-022") as check:
        for name in sorted(used):
            with check.subtest(name):
                request = newcomer.registration()
                request.features = [each for each in request.features if each.name != name]
                found = newcomer.ask_to_register(request).error_code
                expect_error(found, ErrorCode.UNSUPPORTED_VERSION, f"without {name}")
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "with all features")


@judges("BROK-023")
@needs_broker(Use.JOINABLE)
def test_registration_must_list_metadata_version_and_level_0_of_unused_feature(
    peers: JoinedCluster,
) -> None:
    """One without metadata.version; then the broker knows a feature that no controller does."""
    newcomer = peers.newcomer()
    without = newcomer.registration()
    without.features = [each for each in without.features if each.name != METADATA_VERSION]
    with requirement("BROK-023") as check:
        with check.subtest("without metadata.version"):
            found = newcomer.ask_to_register(without).error_code
            expect_error(found, ErrorCode.INVALID_REGISTRATION, "without metadata.version")
        for lowest, code in ((1, ErrorCode.UNSUPPORTED_VERSION), (0, ErrorCode.NONE)):
            with check.subtest(f"from level {lowest} on"):
                request = newcomer.registration()
                request.features = [*request.features, _unused(lowest)]
                found = newcomer.ask_to_register(request).error_code
                expect_error(found, code, f"an unused feature from level {lowest} on")
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "with known features")


def _unused(lowest: int) -> Feature:
    return Feature(name=UNUSED, min_supported_version=lowest, max_supported_version=1)


@judges("BROK-011")
@needs_broker(Use.JOINABLE)
def test_registration_with_other_level_of_finalized_feature_returns_unsupported_version(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """The broker supports one level alone of one feature: the one below that of the cluster, then
    the one above.
    """
    newcomer, used = peers.newcomer(), _used_features(broker)
    with requirement("BROK-011") as check:
        for name, finalized in sorted(used.items()):
            for level in (finalized - 1, finalized + 1):
                with check.subtest(f"{name}, level {level - finalized:+d}"):
                    request = newcomer.registration()
                    for feature in request.features:
                        if feature.name == name:
                            feature.min_supported_version = level
                            feature.max_supported_version = level
                    found = newcomer.ask_to_register(request).error_code
                    what = f"{name} at {level}, finalized is {finalized}"
                    expect_error(found, ErrorCode.UNSUPPORTED_VERSION, what)
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "with all levels")


def _used_features(broker: BrokerUnderTest) -> dict[str, int]:
    """Return the levels above 0 of all features but metadata.version, at least one.

    Raises ApiNotAdvertised.
    """
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="0")
    answer = broker.ask(request, broker.version("ApiVersions", WITH_FEATURES))
    levels = {each.name: each.max_version_level for each in answer.finalized_features}
    used = {name: level for name, level in levels.items() if level > 0}
    used.pop(METADATA_VERSION, None)
    if not used:
        raise ApiNotAdvertised("the cluster uses no feature but metadata.version")
    return used

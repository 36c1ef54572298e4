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
from harness.virtual_broker.kraft import FIRST_WITH_LOG_DIRS
from suites.replication.support.expect import expect_error

WITH_FEATURES = "3+"


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
    newcomer = peers.newcomer()
    used = _used_features(broker) - {"metadata.version"}
    if not used:
        raise ApiNotAdvertised("the cluster uses no feature but metadata.version")
    with requirement("BROK-022") as check:
        for name in sorted(used):
            with check.subtest(name):
                request = newcomer.registration()
                request.features = [each for each in request.features if each.name != name]
                found = newcomer.ask_to_register(request).error_code
                expect_error(found, ErrorCode.UNSUPPORTED_VERSION, f"without {name}")
        expect_error(newcomer.ask_to_register().error_code, ErrorCode.NONE, "with all features")


def _used_features(broker: BrokerUnderTest) -> set[str]:
    """Return the features with a finalized level above 0."""
    request = ApiVersionsRequest(client_software_name="kc", client_software_version="0")
    answer = broker.ask(request, broker.version("ApiVersions", WITH_FEATURES))
    return {each.name for each in answer.finalized_features if each.max_version_level > 0}

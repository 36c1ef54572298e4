"""The rights that requests need, and the errors without them."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.bindings import Binding, bound
from suites.protocol.support.expect import expect_error
from suites.protocol.support.permissions.forms import ASKED, code_of
from suites.protocol.support.permissions.scene import Scene, scene_of
from suites.protocol.support.rights import CLUSTER_NAME, require_authorizer

NO_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
NO_TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def expect_needed(scene: Scene, form: str, version: int, wanted: Binding, error: ErrorCode) -> None:
    """Without the right, and with rights to other operations alone, there is the error."""
    what = Operation(wanted.operation).name
    expect_error(code_of(scene, form, version), error, "without a right")
    others = [
        wanted._replace(operation=each)
        for each in (Operation.CREATE, Operation.ALTER_CONFIGS, Operation.CLUSTER_ACTION)
        if each != wanted.operation
    ]
    with bound(scene.broker, *others):
        found = code_of(scene, form, version)
        expect_error(found, error, f"with rights to other operations than {what}")
    with bound(scene.broker, wanted):
        found = code_of(scene, form, version)
        assert found != error, f"with {what} the error is {ErrorCode(found).name}"


def _judge_topic(broker: BrokerUnderTest, version: int, form: str, operation: Operation) -> None:
    require_authorizer(broker)
    with scene_of(broker) as scene:
        ASKED[form].prepare(scene)
        right = Binding(scene.topic.name, scene.user.principal, operation)
        with requirement("ACL-006"):
            expect_needed(scene, form, version, right, NO_TOPIC)
            with bound(broker, right):
                found = code_of(scene, form, version)
                expect_error(found, ErrorCode.NONE, f"with {operation.name}")


@judges("ACL-006")
@at_versions("Produce", "3-12")
def test_produce_needs_the_right_to_write(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_topic(broker, api_version, "Produce", Operation.WRITE)


@judges("ACL-006")
@at_versions("Fetch", "4-12")
def test_fetch_needs_the_right_to_read(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_topic(broker, api_version, "Fetch", Operation.READ)


@judges("ACL-006")
@at_versions("Metadata", "1+")
def test_metadata_needs_the_right_to_describe(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_topic(broker, api_version, "Metadata", Operation.DESCRIBE)


@judges("ACL-006")
@at_versions("ListOffsets", "1+")
def test_list_offsets_needs_the_right_to_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    _judge_topic(broker, api_version, "ListOffsets", Operation.DESCRIBE)


def _judge_group(broker: BrokerUnderTest, version: int, form: str, operation: Operation) -> None:
    require_authorizer(broker)
    with scene_of(broker) as scene:
        ASKED[form].prepare(scene)
        right = Binding(scene.group, scene.user.principal, operation, resource=Resource.GROUP)
        with requirement("ACL-007"):
            expect_needed(scene, form, version, right, NO_GROUP)


@judges("ACL-007")
@at_versions("JoinGroup")
def test_join_group_needs_the_right_to_read(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_group(broker, api_version, "JoinGroup", Operation.READ)


@judges("ACL-007")
@at_versions("OffsetCommit", "2-9")
def test_offset_commit_needs_the_right_to_read(broker: BrokerUnderTest, api_version: int) -> None:
    _judge_group(broker, api_version, "OffsetCommit", Operation.READ)


@judges("ACL-007")
@at_versions("OffsetFetch", "2+")
def test_offset_fetch_needs_the_right_to_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    _judge_group(broker, api_version, "OffsetFetch", Operation.DESCRIBE)


@judges("ACL-007")
@at_versions("DescribeGroups")
def test_describe_groups_needs_the_right_to_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    _judge_group(broker, api_version, "DescribeGroups", Operation.DESCRIBE)


OF_CLUSTER = {
    "CreateAcls": Operation.ALTER,
    "DescribeAcls": Operation.DESCRIBE,
    "AlterClientQuotas": Operation.ALTER_CONFIGS,
    "DescribeClientQuotas": Operation.DESCRIBE_CONFIGS,
    "WriteTxnMarkers": Operation.CLUSTER_ACTION,
}


@judges("ACL-008")
@at_versions("CreateAcls", "1+")
def test_requests_about_the_cluster_need_rights_to_it(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A refused request changes nothing."""
    require_authorizer(broker)
    with scene_of(broker) as scene:
        principal, other = scene.user.principal, Operation.IDEMPOTENT_WRITE
        for form in OF_CLUSTER:
            ASKED[form].prepare(scene)
        with requirement("ACL-008") as check:
            for form, operation in OF_CLUSTER.items():
                version = api_version if form == "CreateAcls" else broker.version(form)
                right = Binding(CLUSTER_NAME, principal, operation, resource=Resource.CLUSTER)
                with check.subtest(form):
                    _judge_right(scene, form, version, right, other, NO_CLUSTER)


OF_TRANSACTION = {
    "AddPartitionsToTxn": "0-3",
    "AddOffsetsToTxn": "0+",
    "EndTxn": "0+",
    "TxnOffsetCommit": "0-5",
    "InitProducerId/transactional": "0+",
}
"""Forms of a producer that is unknown to the broker: with the right there is an error too, but
another one; and their versions."""


@judges("ACL-009")
@at_versions("InitProducerId")
def test_transactions_need_the_right_to_write_with_their_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A right to describe it finds its coordinator alone."""
    require_authorizer(broker)
    with scene_of(broker) as scene:
        name = scene.transactional_id
        write = Binding(
            name, scene.user.principal, Operation.WRITE, resource=Resource.TRANSACTIONAL_ID
        )
        with requirement("ACL-009") as check:
            for form, versions in OF_TRANSACTION.items():
                api = form.partition("/")[0]
                version = api_version if api == "InitProducerId" else broker.version(api, versions)
                with check.subtest(api):
                    _judge_right(scene, form, version, write, Operation.DESCRIBE, NO_TRANSACTION)
            with check.subtest("FindCoordinator"):
                version, form = broker.version("FindCoordinator"), "FindCoordinator/transaction"
                describe = write._replace(operation=Operation.DESCRIBE)
                _judge_right(
                    scene, form, version, describe, Operation.ALTER_CONFIGS, NO_TRANSACTION
                )


def _judge_right(
    scene: Scene, form: str, version: int, right: Binding, other: Operation, error: ErrorCode
) -> None:
    """The right alone ends the error, and another one does not; a refusal changes nothing."""
    state = ASKED[form].state
    before = state(scene) if state else None
    expect_error(code_of(scene, form, version), error, f"{form} without a right")
    with bound(scene.broker, right._replace(operation=other)):
        expect_error(code_of(scene, form, version), error, f"{form} with {other.name}")
    if state:
        after = state(scene)
        assert after == before, f"{form} without the right changes {before!r} to {after!r}"
    with bound(scene.broker, right):
        found = code_of(scene, form, version)
        assert found != error, f"{form} with {Operation(right.operation).name} is refused"

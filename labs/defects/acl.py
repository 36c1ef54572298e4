"""Defects of area ACL: access control lists and the decisions by them.

The broker that they strike has an authorizer, and a SASL_PLAINTEXT listener: a relay reads no TLS.
"""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeClusterResponse,
    DescribeConfigsResponse,
    EndTxnResponse,
    FetchResponse,
    InitProducerIdResponse,
    ListGroupsResponse,
    ListOffsetsResponse,
    MetadataResponse,
    OffsetCommitResponse,
    ProduceResponse,
)
from labs.defects.changed_field import changed_field
from labs.defects.edited_answer import answers
from suites.protocol.acls.test_hidden import MISSING
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.bindings import EVERY_USER

ACCEPTED = r"error is NONE"
TOPIC, GROUP, CLUSTER, TRANSACTION = (
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
FILTERS_OF_ACL_017 = 3
OF_PARTITIONS = "topics.partitions.error_code"


@answers("ACL-001", r"the operation: .* are selected")
def a_filter_by_operation_selects_nothing(
    request: DescribeAclsRequest, answer: DescribeAclsResponse
) -> None:
    """DescribeAcls returns nothing where the filter names the operation WRITE."""
    if request.operation == Operation.WRITE:
        answer.resources = []


@answers("ACL-017", r"the results are \[\(0, \[\]\), ")
def all_removed_entries_are_in_the_last_result(
    request: DeleteAclsRequest, answer: DeleteAclsResponse
) -> None:
    """DeleteAcls of three filters returns all removed entries in the last result."""
    if len(request.filters) == FILTERS_OF_ACL_017:
        *before, last = answer.filter_results
        for each in before:
            last.matching_acls += each.matching_acls
            each.matching_acls = []


@answers("ACL-018", r"the results are .*, \(42, \[\]\), \(0, \[\]\)\], expected")
def an_entry_is_in_one_result(answer: DeleteAclsResponse) -> None:
    """DeleteAcls leaves out an entry that an earlier filter has selected."""
    seen = []
    for each in answer.filter_results:
        each.matching_acls = [acl for acl in each.matching_acls if acl not in seen]
        seen += each.matching_acls


@answers("ACL-010", r"the missing one: error is UNKNOWN_TOPIC_OR_PARTITION")
def a_missing_topic_is_unknown(answer: MetadataResponse) -> None:
    """Metadata shows to everybody which topics do not exist."""
    for topic in answer.topics:
        if topic.error_code == TOPIC and (topic.name or "").endswith(MISSING):
            topic.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("ACL-012", r"[12] groups lack")
def no_group_is_listed(answer: ListGroupsResponse) -> None:
    """ListGroups hides all groups."""
    answer.groups = []


@answers("ACL-014", r"the entry is not described")
def a_restart_loses_the_entries_of_every_user(answer: DescribeAclsResponse) -> None:
    """DescribeAcls returns no entry of the wildcard principal."""
    for resource in answer.resources:
        resource.acls = [one for one in resource.acls if one.principal != EVERY_USER]


DEFECTS = [
    a_filter_by_operation_selects_nothing,
    changed_field("ACL-002", "a_wrong_entry_is_created", ACCEPTED,
        "CreateAcls accepts an entry that is invalid.",
        CreateAclsResponse, "results.error_code", ErrorCode.INVALID_REQUEST, ErrorCode.NONE),
    changed_field("ACL-003", "entries_are_removed_without_an_authorizer", ACCEPTED,
        "DeleteAcls succeeds where there is no authorizer.",
        DeleteAclsResponse, "filter_results.error_code", ErrorCode.SECURITY_DISABLED,
        ErrorCode.NONE),
    changed_field("ACL-004", "a_permission_wins", ACCEPTED,
        "Fetch reads a topic in spite of a denial.",
        FetchResponse, "responses.partitions.error_code", TOPIC, ErrorCode.NONE),
    changed_field("ACL-005", "a_user_without_entries_may_describe", ACCEPTED,
        "ListOffsets answers a user that no entry allows it.",
        ListOffsetsResponse, OF_PARTITIONS, TOPIC, ErrorCode.NONE),
    changed_field("ACL-006", "produce_needs_no_right", ACCEPTED,
        "Produce succeeds without the right to write.",
        ProduceResponse, "responses.partition_responses.error_code", TOPIC, ErrorCode.NONE),
    changed_field("ACL-007", "offset_commit_needs_no_right", ACCEPTED,
        "OffsetCommit succeeds without the right to read the group.",
        OffsetCommitResponse, OF_PARTITIONS, GROUP, ErrorCode.NONE),
    changed_field("ACL-008", "create_acls_needs_no_right", ACCEPTED,
        "CreateAcls succeeds without the right to alter the cluster.",
        CreateAclsResponse, "results.error_code", CLUSTER, ErrorCode.NONE),
    changed_field("ACL-009", "end_txn_needs_no_right", ACCEPTED,
        "EndTxn succeeds without the right to write with the transactional id.",
        EndTxnResponse, "error_code", TRANSACTION, ErrorCode.NONE),
    a_missing_topic_is_unknown,
    changed_field("ACL-011", "alter_configs_does_not_imply_describe_configs",
        r"DescribeConfigs: error is TOPIC_AUTHORIZATION_FAILED",
        "DescribeConfigs is refused to a user that may alter the configs.",
        DescribeConfigsResponse, "results.error_code", ErrorCode.NONE, TOPIC),
    no_group_is_listed,
    changed_field("ACL-013", "the_cluster_has_operations_without_a_right",
        r"the operations are 0x100, expected 0x0",
        "DescribeCluster shows the operation DESCRIBE to a user without rights.",
        DescribeClusterResponse, "cluster_authorized_operations", 0, 1 << Operation.DESCRIBE),
    replace(a_restart_loses_the_entries_of_every_user, private=True),
    changed_field("ACL-015", "hosts_are_ignored", r"host( denied)?: error is NONE",
        "Fetch reads a topic that another host alone may read.",
        FetchResponse, "responses.partitions.error_code", TOPIC, ErrorCode.NONE),
    changed_field("ACL-016", "a_denied_write_is_enough_for_an_id",
        r"(denied|another host|a group): error is NONE",
        "InitProducerId gives an id to a producer in spite of denials.",
        InitProducerIdResponse, "error_code", CLUSTER, ErrorCode.NONE),
    all_removed_entries_are_in_the_last_result,
    an_entry_is_in_one_result,
]  # fmt: skip

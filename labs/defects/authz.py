"""Defects of area AUTHZ: a user without the right is served, or one with it is not.

The broker that they strike has an authorizer and a SASL_PLAINTEXT listener. Where the answer has an
error, the refusal's code goes, and only a refused user is struck: the user of the run never is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.codec import messages as m
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import Defect
from labs.defects.edited_answer import Asked, any_request
from suites.protocol.support.permissions.of_tokens import OWN_LIFE_MS

TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
TRANSACTION = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
TOKEN_REFUSED = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
NOT_THE_OWNER = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
SERVED = r"is NONE \(0\), expected {}"
MANY = 0x1DF8
"""Operations of a topic, as a bit field: more than a user of the suite has."""
BEHIND_SASL = 3
"""Requests before: the handshake and two tokens of SCRAM."""


def opened(
    number: int,
    name: str,
    answer: type[Message],
    place: str,
    code: ErrorCode,
    versions: range | None = None,
    *,
    asked: Asked = any_request,
    also: tuple[int, ...] = (),
) -> Defect:
    """A refusal with this code at this place becomes NONE."""
    api = answer.__name__.removesuffix("Response")
    defect = changed_field(
        f"AUTHZ-{number:03}",
        f"{name}_without_a_right",
        SERVED.format(code.name),
        f"{api} answers with NONE in place of {code.name} in {place}.",
        answer,
        place,
        code,
        ErrorCode.NONE,
        versions,
        asked=asked,
    )
    return replace(defect, also=tuple(f"AUTHZ-{other:03}" for other in also))


def left_out(
    number: int,
    name: str,
    answer: type[Message],
    place: str,
    shown: str,
    asked: Asked = any_request,
) -> Defect:
    """A list of everything is empty, also for a user that may see something of it."""
    api = answer.__name__.removesuffix("Response")
    return changed_field(
        f"AUTHZ-{number:03}",
        f"{name}_are_left_out",
        rf"is \[.*\], expected: shows {shown}",
        f"{api} leaves out what the user may see in {place}.",
        answer,
        place,
        ANY,
        [],
        asked=asked,
    )


def _request(test: Callable[..., bool]) -> Asked:
    """A condition on the decoded request."""
    return lambda seen: seen.message is not None and test(seen.message)


def _names_an_id(request: m.MetadataRequest) -> bool:
    return any(topic.name is None for topic in request.topics or [])


def _names_a_topic(request: m.MetadataRequest) -> bool:
    return any(topic.name is not None for topic in request.topics or [])


def _may_create(seen: SeenRequest) -> bool:
    asked = seen.message
    return isinstance(asked, m.MetadataRequest) and (
        asked.allow_auto_topic_creation and seen.version >= 4 and _names_a_topic(asked)
    )


def _is_of_a_follower(request: m.FetchRequest) -> bool:
    return max(request.replica_id, request.replica_state.replica_id) >= 0


def _is_of_a_user(seen: SeenRequest) -> bool:
    """The request of the suite behind an authentication, and not that of the run."""
    asked = seen.message
    named = isinstance(asked, m.ApiVersionsRequest) and asked.client_software_name
    return bool(named) and seen.ordinal >= BEHIND_SASL


TOPICS = [
    opened(1, "metadata", m.MetadataResponse, "topics.error_code", TOPIC,
        asked=lambda seen: _request(_names_a_topic)(seen) and not _may_create(seen)),
    opened(2, "metadata_by_id", m.MetadataResponse, "topics.error_code", TOPIC,
        asked=_request(_names_an_id)),
    left_out(3, "all_topics_of_metadata", m.MetadataResponse, "topics", "topic",
        _request(lambda asked: not asked.topics)),
    opened(4, "metadata_that_creates", m.MetadataResponse, "topics.error_code", TOPIC,
        asked=_may_create),
    changed_field("AUTHZ-005", "all_operations_on_a_topic", r"is \[7672\], expected: operations",
        "Metadata returns all operations on a topic to a user with DESCRIBE alone.",
        m.MetadataResponse, "topics.topic_authorized_operations", 1 << 8, MANY),
    changed_field("AUTHZ-006", "all_operations_on_the_cluster",
        r"is \[7672\], expected: operations",
        "Metadata returns all operations on the cluster to a user without DESCRIBE.",
        m.MetadataResponse, "cluster_authorized_operations", 0, MANY),
    opened(7, "described_partitions", m.DescribeTopicPartitionsResponse, "topics.error_code",
        TOPIC),
    left_out(8, "all_described_topics", m.DescribeTopicPartitionsResponse, "topics", "topic",
        _request(lambda asked: not asked.topics)),
    opened(9, "produce", m.ProduceResponse, "responses.partition_responses.error_code", TOPIC,
        asked=_request(lambda asked: asked.transactional_id is None)),
    opened(10, "produce_of_a_transaction", m.ProduceResponse,
        "responses.partition_responses.error_code", TRANSACTION),
    opened(11, "fetch", m.FetchResponse, "responses.partitions.error_code", TOPIC,
        asked=_request(lambda asked: not _is_of_a_follower(asked))),
    opened(12, "fetch_of_a_follower", m.FetchResponse, "responses.partitions.error_code", TOPIC,
        asked=_request(_is_of_a_follower)),
    opened(13, "list_offsets", m.ListOffsetsResponse, "topics.partitions.error_code", TOPIC),
    opened(14, "an_epochs_end", m.OffsetForLeaderEpochResponse, "topics.partitions.error_code",
        TOPIC),
    opened(15, "deleted_records", m.DeleteRecordsResponse, "topics.partitions.error_code", TOPIC),
    opened(16, "described_producers", m.DescribeProducersResponse, "topics.partitions.error_code",
        TOPIC),
    opened(17, "a_new_topic", m.CreateTopicsResponse, "topics.error_code", TOPIC),
    opened(18, "a_deleted_topic", m.DeleteTopicsResponse, "responses.error_code", TOPIC,
        asked=lambda seen: seen.version < 6 or _request(lambda asked: asked.topics[0].name)(seen)),
    opened(19, "a_topic_deleted_by_id", m.DeleteTopicsResponse, "responses.error_code", TOPIC,
        range(6, 99), asked=_request(lambda asked: not asked.topics[0].name)),
    opened(20, "more_partitions", m.CreatePartitionsResponse, "results.error_code", TOPIC),
]  # fmt: skip
CONFIGS = [
    opened(21, "configs_of_a_topic", m.DescribeConfigsResponse, "results.error_code", TOPIC),
    opened(22, "configs_of_a_broker", m.DescribeConfigsResponse, "results.error_code", CLUSTER),
    opened(23, "configs_of_a_group", m.DescribeConfigsResponse, "results.error_code", GROUP),
    opened(24, "changed_configs_of_a_topic", m.IncrementalAlterConfigsResponse,
        "responses.error_code", TOPIC),
    opened(25, "changed_configs_of_a_broker", m.IncrementalAlterConfigsResponse,
        "responses.error_code", CLUSTER),
    opened(26, "changed_configs_of_a_group", m.IncrementalAlterConfigsResponse,
        "responses.error_code", GROUP),
    opened(27, "replaced_configs_of_a_topic", m.AlterConfigsResponse, "responses.error_code",
        TOPIC),
    opened(28, "replaced_configs_of_a_broker", m.AlterConfigsResponse, "responses.error_code",
        CLUSTER),
    opened(29, "listed_config_resources", m.ListConfigResourcesResponse, "error_code", CLUSTER),
    opened(65, "described_quotas", m.DescribeClientQuotasResponse, "error_code", CLUSTER),
    opened(66, "changed_quotas", m.AlterClientQuotasResponse, "entries.error_code", CLUSTER),
    opened(67, "described_users", m.DescribeUserScramCredentialsResponse, "error_code", CLUSTER),
    opened(68, "changed_users", m.AlterUserScramCredentialsResponse, "results.error_code",
        CLUSTER),
]  # fmt: skip
GROUPS = [
    changed_field("AUTHZ-030", "another_error_of_a_groups_coordinator",
        r"COORDINATOR_NOT_AVAILABLE \(15\), expected GROUP",
        "FindCoordinator has no coordinator for a group without the right.",
        m.FindCoordinatorResponse, "coordinators.error_code", GROUP,
        ErrorCode.COORDINATOR_NOT_AVAILABLE),
    opened(32, "a_join", m.JoinGroupResponse, "error_code", GROUP),
    opened(33, "a_sync", m.SyncGroupResponse, "error_code", GROUP),
    opened(34, "a_heartbeat", m.HeartbeatResponse, "error_code", GROUP),
    opened(35, "a_leave", m.LeaveGroupResponse, "error_code", GROUP),
    opened(36, "a_commit", m.OffsetCommitResponse, "topics.partitions.error_code", TOPIC),
    opened(37, "fetched_offsets", m.OffsetFetchResponse, "groups.topics.partitions.error_code",
        TOPIC, range(8, 99)),
    left_out(38, "all_offsets_of_a_group", m.OffsetFetchResponse, "groups.topics", "topic",
        _request(lambda asked: bool(asked.groups) and asked.groups[0].topics is None)),
    opened(39, "deleted_offsets", m.OffsetDeleteResponse, "error_code", GROUP),
    opened(40, "described_groups", m.DescribeGroupsResponse, "groups.error_code", GROUP),
    replace(left_out(41, "listed_groups", m.ListGroupsResponse, "groups", "group"),
        also=("AUTHZ-042",)),
    opened(42, "a_deleted_group", m.DeleteGroupsResponse, "results.error_code", GROUP),
    opened(43, "a_newer_heartbeat", m.ConsumerGroupHeartbeatResponse, "error_code", GROUP),
    opened(44, "a_subscription", m.ConsumerGroupHeartbeatResponse, "error_code", TOPIC),
    opened(45, "described_newer_groups", m.ConsumerGroupDescribeResponse, "groups.error_code",
        GROUP),
]  # fmt: skip
TRANSACTIONS = [
    changed_field("AUTHZ-031", "another_error_of_a_transactions_coordinator",
        r"COORDINATOR_NOT_AVAILABLE \(15\), expected TRANS",
        "FindCoordinator has no coordinator for a transactional id without the right.",
        m.FindCoordinatorResponse, "coordinators.error_code", TRANSACTION,
        ErrorCode.COORDINATOR_NOT_AVAILABLE),
    opened(46, "a_producer_id", m.InitProducerIdResponse, "error_code", CLUSTER),
    opened(47, "a_transactional_producer_id", m.InitProducerIdResponse, "error_code",
        TRANSACTION),
    replace(
        opened(89, "two_phase_commit", m.InitProducerIdResponse, "error_code", TRANSACTION,
            range(6, 99)),
        private=True,
    ),
    opened(48, "added_partitions", m.AddPartitionsToTxnResponse,
        "results_by_topic_v3_and_below.results_by_partition.partition_error_code", TOPIC),
    opened(49, "added_offsets", m.AddOffsetsToTxnResponse, "error_code", GROUP),
    opened(50, "a_transactional_commit", m.TxnOffsetCommitResponse,
        "topics.partitions.error_code", TOPIC),
    opened(51, "an_end_of_a_transaction", m.EndTxnResponse, "error_code", TRANSACTION),
    opened(52, "described_transactions", m.DescribeTransactionsResponse,
        "transaction_states.error_code", TRANSACTION),
    left_out(53, "listed_transactions", m.ListTransactionsResponse, "transaction_states",
        "transactional-id"),
    opened(54, "transaction_markers", m.WriteTxnMarkersResponse,
        "markers.topics.partitions.error_code", CLUSTER, also=(55,)),
    replace(
        changed_field("AUTHZ-055", "markers_of_an_administrator_are_refused",
            r"is CLUSTER_AUTHORIZATION_FAILED \(31\), expected UNKNOWN",
            "WriteTxnMarkers refuses a user with ALTER of the cluster.",
            m.WriteTxnMarkersResponse, "markers.topics.partitions.error_code",
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, CLUSTER),
        also=("AUTHZ-054",),
    ),
]  # fmt: skip
CLUSTERS = [
    opened(56, "described_acls", m.DescribeAclsResponse, "error_code", CLUSTER),
    opened(57, "new_acls", m.CreateAclsResponse, "results.error_code", CLUSTER),
    opened(58, "deleted_acls", m.DeleteAclsResponse, "filter_results.error_code", CLUSTER),
    changed_field("AUTHZ-059", "all_operations_on_a_described_cluster",
        r"is \[7672\], expected: operations",
        "DescribeCluster returns all operations on the cluster to a user without DESCRIBE.",
        m.DescribeClusterResponse, "cluster_authorized_operations", 0, MANY),
    opened(60, "a_reassignment", m.AlterPartitionReassignmentsResponse, "error_code", CLUSTER),
    opened(61, "listed_reassignments", m.ListPartitionReassignmentsResponse, "error_code",
        CLUSTER),
    opened(62, "an_election", m.ElectLeadersResponse, "error_code", CLUSTER, range(1, 99)),
    opened(63, "described_folders", m.DescribeLogDirsResponse, "error_code", CLUSTER),
    opened(64, "a_move_of_replicas", m.AlterReplicaLogDirsResponse,
        "results.partitions.error_code", CLUSTER),
    opened(69, "updated_features", m.UpdateFeaturesResponse, "error_code", CLUSTER),
    opened(70, "a_described_quorum", m.DescribeQuorumResponse, "error_code", CLUSTER),
    opened(71, "an_unregistered_broker", m.UnregisterBrokerResponse, "error_code", CLUSTER),
    changed_field("AUTHZ-072", "api_versions_need_a_right",
        r"is CLUSTER_AUTHORIZATION_FAILED \(31\), expected NONE",
        "ApiVersions of an authenticated user is refused.",
        m.ApiVersionsResponse, "error_code", ErrorCode.NONE, CLUSTER, asked=_is_of_a_user),
]  # fmt: skip
NEWER_GROUPS = [
    opened(73, "a_heartbeat_of_a_share_group", m.ShareGroupHeartbeatResponse, "error_code", TOPIC),
    opened(74, "described_share_groups", m.ShareGroupDescribeResponse, "groups.error_code",
        GROUP),
    opened(75, "a_fetch_of_a_share_group", m.ShareFetchResponse,
        "responses.partitions.error_code", TOPIC),
    opened(76, "an_acknowledgement", m.ShareAcknowledgeResponse, "error_code", GROUP),
    opened(77, "described_offsets_of_a_share_group", m.DescribeShareGroupOffsetsResponse,
        "groups.topics.partitions.error_code", TOPIC),
    opened(78, "changed_offsets_of_a_share_group", m.AlterShareGroupOffsetsResponse,
        "responses.partitions.error_code", TOPIC),
    opened(79, "deleted_offsets_of_a_share_group", m.DeleteShareGroupOffsetsResponse,
        "responses.error_code", TOPIC),
    opened(80, "a_heartbeat_of_a_streams_group", m.StreamsGroupHeartbeatResponse, "error_code",
        GROUP),
    opened(81, "described_streams_groups", m.StreamsGroupDescribeResponse, "groups.error_code",
        GROUP),
    opened(82, "a_new_voter", m.AddRaftVoterResponse, "error_code", CLUSTER),
    opened(83, "a_removed_voter", m.RemoveRaftVoterResponse, "error_code", CLUSTER),
]  # fmt: skip
TOKENS = [
    changed_field("AUTHZ-084", "an_own_token_needs_a_right",
        r"is DELEGATION_TOKEN_AUTHORIZATION_FAILED \(65\), expected NONE",
        "CreateDelegationToken is refused to a user that wants a token for itself.",
        m.CreateDelegationTokenResponse, "error_code", ErrorCode.NONE, TOKEN_REFUSED,
        asked=_request(lambda asked: asked.max_lifetime_ms == OWN_LIFE_MS)),
    opened(85, "a_token_of_another_owner", m.CreateDelegationTokenResponse, "error_code",
        TOKEN_REFUSED),
    opened(86, "a_renewal_of_a_foreign_token", m.RenewDelegationTokenResponse, "error_code",
        NOT_THE_OWNER),
    opened(87, "an_expiry_of_a_foreign_token", m.ExpireDelegationTokenResponse, "error_code",
        NOT_THE_OWNER),
    left_out(88, "described_tokens", m.DescribeDelegationTokenResponse, "tokens",
        "delegation-token", _request(lambda asked: asked.owners is None)),
]  # fmt: skip
DEFECTS = [
    *TOPICS,
    *CONFIGS,
    *GROUPS,
    *TRANSACTIONS,
    *CLUSTERS,
    *NEWER_GROUPS,
    *TOKENS,
]

"""Requests of the permission matrix about the cluster, its ACLs, nodes and replicas."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.codec.messages import (
    AddRaftVoterRequest,
    AlterPartitionReassignmentsRequest,
    AlterReplicaLogDirsRequest,
    ApiVersionsRequest,
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    MetadataRequest,
    RemoveRaftVoterRequest,
    UnregisterBrokerRequest,
    UpdateFeaturesRequest,
)
from suites.protocol.support.acl_terms import LITERAL, Operation, Resource
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.scene import Scene
from suites.protocol.support.rights import (
    Right,
    acls_of,
    count,
    creations,
    deletion,
    give,
    take_all,
)

WAIT_MS = 10_000
FIRST_WITH_PATTERNS = 1
NO_NODE = 999
NO_CLUSTER = "not-the-id-of-the-cluster"
NO_FOLDER = "/no-such-folder"
METADATA_TOPIC = "__cluster_metadata"


def _cluster(_: Scene, __: int) -> DescribeClusterRequest:
    return DescribeClusterRequest(include_cluster_authorized_operations=True)


def _metadata_of_cluster(_: Scene, __: int) -> MetadataRequest:
    return MetadataRequest(topics=[], include_cluster_authorized_operations=True)


def _other(scene: Scene) -> str:
    """The principal of no user, which the ACLs are about."""
    return f"{scene.user.principal}-nobody"


def _describe_acls(scene: Scene, version: int) -> DescribeAclsRequest:
    request = acls_of(_other(scene))
    if version < FIRST_WITH_PATTERNS:
        request.pattern_type_filter = LITERAL
    return request


def _some_right(scene: Scene) -> Right:
    return Right(Operation.READ, Resource.TOPIC, scene.new_topic)


def _create_acls(scene: Scene, _: int) -> CreateAclsRequest:
    return CreateAclsRequest(creations=creations(_other(scene), [_some_right(scene)]))


def _delete_acls(scene: Scene, version: int) -> DeleteAclsRequest:
    removed = deletion(_other(scene))
    if version < FIRST_WITH_PATTERNS:
        removed.pattern_type_filter = LITERAL
    return DeleteAclsRequest(filters=[removed])


def _acl_count(scene: Scene) -> int:
    return count(scene.broker, _other(scene))


def _acls_go(scene: Scene) -> None:
    scene.at_end(lambda: take_all(scene.broker, _other(scene)))


def _with_acl(scene: Scene) -> None:
    _acls_go(scene)
    give(scene.broker, _other(scene), [_some_right(scene)])


def _reassign(scene: Scene, _: int) -> AlterPartitionReassignmentsRequest:
    partition = AlterPartitionReassignmentsRequest.ReassignablePartition(
        partition_index=0, replicas=[scene.broker.own_id()]
    )
    named = AlterPartitionReassignmentsRequest.ReassignableTopic(
        name=scene.topic.name, partitions=[partition]
    )
    return AlterPartitionReassignmentsRequest(timeout_ms=WAIT_MS, topics=[named])


def _reassignments(_: Scene, __: int) -> ListPartitionReassignmentsRequest:
    return ListPartitionReassignmentsRequest(timeout_ms=WAIT_MS, topics=None)


def _elect(scene: Scene, _: int) -> ElectLeadersRequest:
    named = ElectLeadersRequest.TopicPartitions(topic=scene.topic.name, partitions=[0])
    return ElectLeadersRequest(topic_partitions=[named], timeout_ms=WAIT_MS)


def _folders(scene: Scene, _: int) -> DescribeLogDirsRequest:
    named = DescribeLogDirsRequest.DescribableLogDirTopic(topic=scene.topic.name, partitions=[0])
    return DescribeLogDirsRequest(topics=[named])


def _move(scene: Scene, _: int) -> AlterReplicaLogDirsRequest:
    named = AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic(
        name=scene.topic.name, partitions=[0]
    )
    moved = AlterReplicaLogDirsRequest.AlterReplicaLogDir(path=NO_FOLDER, topics=[named])
    return AlterReplicaLogDirsRequest(dirs=[moved])


def _update_features(_: Scene, version: int) -> UpdateFeaturesRequest:
    update = UpdateFeaturesRequest.FeatureUpdateKey(
        feature="kafka-conformance.no-such-feature", max_version_level=1
    )
    return UpdateFeaturesRequest(
        timeout_ms=WAIT_MS, feature_updates=[update], validate_only=version >= 1
    )


def _quorum(_: Scene, __: int) -> DescribeQuorumRequest:
    partition = DescribeQuorumRequest.PartitionData(partition_index=0)
    named = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return DescribeQuorumRequest(topics=[named])


def _unregister(_: Scene, __: int) -> UnregisterBrokerRequest:
    return UnregisterBrokerRequest(broker_id=NO_NODE)


def _add_voter(_: Scene, __: int) -> AddRaftVoterRequest:
    return AddRaftVoterRequest(
        cluster_id=NO_CLUSTER, timeout_ms=WAIT_MS, voter_id=NO_NODE, listeners=[]
    )


def _remove_voter(_: Scene, __: int) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(cluster_id=NO_CLUSTER, voter_id=NO_NODE)


def _versions(_: Scene, version: int) -> ApiVersionsRequest:
    if version < 3:
        return ApiVersionsRequest()
    return ApiVersionsRequest(client_software_name="kc", client_software_version="1")


def _topic(scene: Scene) -> object:
    return scene.topic


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "ApiVersions": Asked(_versions),
        "AddRaftVoter": Asked(_add_voter),
        "RemoveRaftVoter": Asked(_remove_voter),
        "DescribeCluster": Asked(_cluster),
        "Metadata/cluster operations": Asked(_metadata_of_cluster),
        "DescribeAcls": Asked(_describe_acls, _with_acl, secret="resources"),
        "CreateAcls": Asked(_create_acls, _acls_go, _acl_count),
        "DeleteAcls": Asked(_delete_acls, _with_acl, _acl_count),
        "AlterPartitionReassignments": Asked(_reassign, _topic),
        "ListPartitionReassignments": Asked(_reassignments),
        "ElectLeaders": Asked(_elect, _topic),
        "DescribeLogDirs": Asked(_folders, _topic),
        "AlterReplicaLogDirs": Asked(_move, _topic),
        "UpdateFeatures": Asked(_update_features),
        "DescribeQuorum": Asked(_quorum, secret="topics"),
        "UnregisterBroker": Asked(_unregister),
    }
)
"""By the form of the row."""

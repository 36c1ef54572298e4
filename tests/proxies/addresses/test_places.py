"""Where addresses stand: a reviewed table, and nothing that looks like one is forgotten."""

from __future__ import annotations

import re

from harness.codec.messages import message_class, message_names
from harness.proxies.addresses.places import OF_APPLICATIONS, holders, known_frames
from harness.proxies.direction import Direction

REVIEWED = """
downstream 0 ProduceResponse node node_endpoints[].host 10-13
downstream 1 FetchResponse node node_endpoints[].host 16-18
downstream 1 FetchResponse records responses[].partitions[].records 12-18
downstream 3 MetadataResponse node brokers[].host 0-13
downstream 10 FindCoordinatorResponse node coordinators[].host 4-6
downstream 10 FindCoordinatorResponse node host 0-3
downstream 52 VoteResponse node node_endpoints[].host 1-2
downstream 53 BeginQuorumEpochResponse node node_endpoints[].host 1
downstream 54 EndQuorumEpochResponse node node_endpoints[].host 1
downstream 55 DescribeQuorumResponse node nodes[].listeners[].host 2
downstream 59 FetchSnapshotResponse node node_endpoints[].host 1
downstream 59 FetchSnapshotResponse records topics[].partitions[].unaligned_records 0-1
downstream 60 DescribeClusterResponse node brokers[].host 0-2
downstream 78 ShareFetchResponse node node_endpoints[].host 0-2
downstream 79 ShareAcknowledgeResponse node node_endpoints[].host 0-2
downstream 82 UpdateRaftVoterResponse node current_leader.host 0
upstream 4 LeaderAndIsrRequest node live_leaders[].host_name 0-7
upstream 6 UpdateMetadataRequest node live_brokers[].endpoints[].host 1-8
upstream 6 UpdateMetadataRequest node live_brokers[].v0_host 0
upstream 53 BeginQuorumEpochRequest node leader_endpoints[].host 1
upstream 54 EndQuorumEpochRequest node leader_endpoints[].host 1
upstream 58 EnvelopeRequest request request_data 0
upstream 62 BrokerRegistrationRequest node listeners[].host 0-4
upstream 70 ControllerRegistrationRequest node listeners[].host 0
upstream 80 AddRaftVoterRequest node listeners[].host 0-1
upstream 82 UpdateRaftVoterRequest node listeners[].host 0
"""

NO_NODE = """
AccessControlEntryRecord host
AccessControlRecord host
ConsumerGroupDescribeResponse client_host
ConsumerGroupMemberMetadataValue client_host
CreateAclsRequest host
DeleteAclsRequest host_filter
DeleteAclsResponse host
DescribeAclsRequest host_filter
DescribeAclsResponse host
DescribeGroupsResponse client_host
EnvelopeRequest client_host_address
GroupMetadataValue client_host
ShareGroupDescribeResponse client_host
ShareGroupMemberMetadataValue client_host
StreamsGroupDescribeResponse client_host
StreamsGroupDescribeResponse user_endpoint.host
StreamsGroupDescribeResponse user_endpoint.port
StreamsGroupHeartbeatRequest user_endpoint.host
StreamsGroupHeartbeatRequest user_endpoint.port
StreamsGroupHeartbeatResponse user_endpoint.host
StreamsGroupHeartbeatResponse user_endpoint.port
StreamsGroupMemberMetadataValue client_host
StreamsGroupMemberMetadataValue user_endpoint.host
StreamsGroupMemberMetadataValue user_endpoint.port
SubscriptionInfoData user_end_point
"""
"""Fields of allowed hosts, of requesting hosts, and of the endpoints of applications."""

RECORDS = """
RegisterBrokerRecord end_points[].host
RegisterControllerRecord end_points[].host
VotersRecord voters[].endpoints[].host
"""
SCALARS = ("string", "bytes", "int32", "uint16", "int16", "uint32")
LOOKS_LIKE_ONE = re.compile(r"host|port(?!ed)|address|end_?point$")


def test_address_fields_of_all_apis_match_reviewed_table() -> None:
    """A new API with an address, or a new version of one, changes this table."""
    found = [
        f"{row.direction} {row.api_key} {row.message} {row.place.what} {row.place.path} "
        f"{row.versions}"
        for row in holders()
    ]
    assert found == REVIEWED.split("\n")[1:-1]


def test_fields_with_address_like_names_are_in_reviewed_tables() -> None:
    """A second check beside the table: every scalar field of every definition, by its name."""
    in_table = {f"{row.message} {row.place.path.split('.')[-1]}" for row in holders()}
    in_table |= {f"{line.split()[0]} {line.split('.')[-1]}" for line in RECORDS.split("\n")[1:-1]}
    in_table |= {line.replace("_name", "").replace("host", "port") for line in in_table}
    found = {word for name in message_names() for word in _looks_like_one(name)}
    assert found - in_table == set(NO_NODE.split("\n")[1:-1])
    assert in_table - found == {
        "EnvelopeRequest request_data",
        "FetchResponse records",
        "FetchSnapshotResponse unaligned_records",
    }


def _looks_like_one(name: str) -> list[str]:
    spec = message_class(name).message_spec
    found = []
    owners = {  # struct -> the field that holds it, where that says that it is no node's
        field.struct.name: field.name
        for struct in (spec.root, *spec.structs.values())
        for field in struct.fields
        if field.struct is not None and field.name in OF_APPLICATIONS
    }
    for struct in (spec.root, *spec.structs.values()):
        for field in struct.fields:
            if field.kind in SCALARS and LOOKS_LIKE_ONE.search(field.name):
                owner = owners.get(struct.name)
                found.append(f"{name} {owner}.{field.name}" if owner else f"{name} {field.name}")
    return found


def test_known_frames_marks_versions_with_addresses() -> None:
    requests, responses = (known_frames(direction) for direction in Direction)
    assert [responses[3, 0], responses[0, 10], responses[1, 12], requests[62, 0]] == [True] * 4
    assert [requests[3, 0], responses[0, 9], responses[1, 11], responses[62, 0]] == [False] * 4
    assert not {(3, 99), (999, 0)} & {*requests, *responses}

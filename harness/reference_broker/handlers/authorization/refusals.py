"""The responses to requests that are refused as a whole (methods getErrorResponse of Kafka)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.authorization.steps import Refusal
from harness.reference_broker.handlers.outcome import RequestContext

_FIRST_ELECTION_WITH_ERROR = 1
TEXTS: Mapping[ErrorCode, str] = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Transactional id authorization failed.",
}


def at_top(response: type[Any], **beside: Any) -> Refusal:
    """Return the refusal with the error at the top of the response."""

    def refuse(_: Any, error: ErrorCode, __: RequestContext) -> Any:
        return response(error_code=error, **beside)

    return refuse


def at_top_with_text(response: type[Any], **beside: Any) -> Refusal:
    """Return the refusal with the error and its text at the top."""

    def refuse(_: Any, error: ErrorCode, __: RequestContext) -> Any:
        return response(error_code=error, error_message=TEXTS[error], **beside)

    return refuse


def in_each(
    response: type[Any], results: str, asked: str, refused: Callable[[Any, ErrorCode], Any]
) -> Refusal:
    """Return the refusal with a result for each part of the request."""

    def refuse(request: Any, error: ErrorCode, _: RequestContext) -> Any:
        return response(**{results: [refused(part, error) for part in getattr(request, asked)]})

    return refuse


def acls(response: type[Any], made: type[Any], results: str, asked: str) -> Refusal:
    """Return the refusal of a change of access control lists."""
    return in_each(
        response,
        results,
        asked,
        lambda _, error: made(error_code=error, error_message=TEXTS[error]),
    )


def log_directories(
    request: messages.AlterReplicaLogDirsRequest, error: ErrorCode, _: RequestContext
) -> messages.AlterReplicaLogDirsResponse:
    """Refuse AlterReplicaLogDirs in each partition."""
    made = messages.AlterReplicaLogDirsResponse
    return made(
        results=[
            made.AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    made.AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                    for index in topic.partitions
                ],
            )
            for directory in request.dirs
            for topic in directory.topics
        ]
    )


def elections(
    request: messages.ElectLeadersRequest, error: ErrorCode, context: RequestContext
) -> messages.ElectLeadersResponse:
    """Refuse ElectLeaders in each partition, and at the top where the version has an error."""
    made, text = messages.ElectLeadersResponse, TEXTS[error]
    has_top = context.api_version >= _FIRST_ELECTION_WITH_ERROR
    return made(
        error_code=error if has_top else ErrorCode.NONE,
        replica_election_results=[
            made.ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    made.PartitionResult(partition_id=index, error_code=error, error_message=text)
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions or ()
        ],
    )


def reassignments(
    request: messages.AlterPartitionReassignmentsRequest, error: ErrorCode, _: RequestContext
) -> messages.AlterPartitionReassignmentsResponse:
    """Refuse AlterPartitionReassignments at the top and in each partition."""
    made, text = messages.AlterPartitionReassignmentsResponse, TEXTS[error]
    return made(
        error_code=error,
        error_message=text,
        responses=[
            made.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    made.ReassignablePartitionResponse(
                        partition_index=each.partition_index, error_code=error, error_message=text
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def listed_reassignments(
    request: messages.ListPartitionReassignmentsRequest, error: ErrorCode, _: RequestContext
) -> messages.ListPartitionReassignmentsResponse:
    """Refuse ListPartitionReassignments; its partitions have no replicas."""
    made = messages.ListPartitionReassignmentsResponse
    return made(
        error_code=error,
        error_message=TEXTS[error],
        topics=[
            made.OngoingTopicReassignment(
                name=topic.name,
                partitions=[
                    made.OngoingPartitionReassignment(partition_index=index)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ],
    )


def quota(
    entry: messages.AlterClientQuotasRequest.EntryData, error: ErrorCode
) -> messages.AlterClientQuotasResponse.EntryData:
    """Refuse an entry of AlterClientQuotas."""
    made = messages.AlterClientQuotasResponse
    return made.EntryData(
        error_code=error,
        error_message=TEXTS[error],
        entity=[
            made.EntityData(entity_type=each.entity_type, entity_name=each.entity_name)
            for each in entry.entity
        ],
    )


def described_users(
    request: messages.DescribeUserScramCredentialsRequest, error: ErrorCode, _: RequestContext
) -> messages.DescribeUserScramCredentialsResponse:
    """Refuse DescribeUserScramCredentials; each result is without the name of its user."""
    made, text = messages.DescribeUserScramCredentialsResponse, TEXTS[error]
    one = made.DescribeUserScramCredentialsResult(error_code=error, error_message=text)
    return made(error_code=error, error_message=text, results=[one for _ in request.users or ()])


def altered_users(
    request: messages.AlterUserScramCredentialsRequest, error: ErrorCode, _: RequestContext
) -> messages.AlterUserScramCredentialsResponse:
    """Refuse AlterUserScramCredentials, once for each user."""
    made = messages.AlterUserScramCredentialsResponse
    users = {one.name for one in request.deletions} | {one.name for one in request.upsertions}
    return made(
        results=[
            made.AlterUserScramCredentialsResult(
                user=user, error_code=error, error_message=TEXTS[error]
            )
            for user in sorted(users)
        ]
    )


def markers(
    request: messages.WriteTxnMarkersRequest, error: ErrorCode, _: RequestContext
) -> messages.WriteTxnMarkersResponse:
    """Refuse WriteTxnMarkers in each partition."""
    made = messages.WriteTxnMarkersResponse
    return made(
        markers=[
            made.WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    made.WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            made.WritableTxnMarkerPartitionResult(
                                partition_index=index, error_code=error
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )

"""The results of groups, topics and transactional ids that a client may not use."""

from __future__ import annotations

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.authorization.refusals import TEXTS
from harness.reference_broker.handlers.authorized_operations import NOT_ASKED
from harness.reference_broker.handlers.outcome import RequestContext

_Group = messages.DescribeGroupsResponse.DescribedGroup
_DeletedGroup = messages.DeleteGroupsResponse.DeletableGroupResult
_Created = messages.CreateTopicsResponse.CreatableTopicResult
_Partitions = messages.CreatePartitionsResponse.CreatePartitionsTopicResult
_Transaction = messages.DescribeTransactionsResponse.TransactionState


def group_description_refused(group_id: str, error: ErrorCode, _: RequestContext) -> _Group:
    """Refuse to describe a group."""
    return _Group(group_id=group_id, error_code=error, authorized_operations=NOT_ASKED)


def group_deletion_refused(group_id: str, error: ErrorCode, _: RequestContext) -> _DeletedGroup:
    """Refuse to delete a group."""
    return _DeletedGroup(group_id=group_id, error_code=error)


def creation_refused(
    topic: messages.CreateTopicsRequest.CreatableTopic, error: ErrorCode, _: RequestContext
) -> _Created:
    """Refuse to create a topic."""
    return _Created(name=topic.name, error_code=error, error_message="Authorization failed.")


def partitions_refused(
    topic: messages.CreatePartitionsRequest.CreatePartitionsTopic,
    error: ErrorCode,
    _: RequestContext,
) -> _Partitions:
    """Refuse to add partitions to a topic."""
    return _Partitions(name=topic.name, error_code=error, error_message=TEXTS[error])


def transaction_refused(name: str, error: ErrorCode, _: RequestContext) -> _Transaction:
    """Refuse to describe a transactional id."""
    return _Transaction(transactional_id=name, error_code=error)

"""The table of APIs: the rights that a request needs, in Kafka's order, and where the error goes.

Metadata, Fetch, OffsetFetch, AddPartitionsToTxn, DescribeTopicPartitions, and what ListGroups,
ListTransactions and DescribeTransactions leave out, are in their handlers: these look topics up
by id, keep sessions, or page. Source: classes KafkaApis and ControllerApis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.authorization import (
    config_rights,
    own_steps,
    refusals,
)
from harness.reference_broker.handlers.authorization import topic_results as topics
from harness.reference_broker.handlers.authorization.part_results import (
    creation_refused,
    group_deletion_refused,
    group_description_refused,
    partitions_refused,
    transaction_refused,
)
from harness.reference_broker.handlers.authorization.steps import (
    Following,
    Refusal,
    Step,
    needs,
    needs_cluster,
    needs_topic,
    parts,
    whole,
)
from harness.reference_broker.handlers.outcome import Outcome, RequestContext

Handle = Callable[[Any, RequestContext], Outcome]
_READ_GROUP = needs(rights.READ, rights.GROUP, lambda request: request.group_id)
_WRITE_TRANSACTION = needs(
    rights.WRITE, rights.TRANSACTIONAL_ID, lambda request: request.transactional_id
)
_READ_TOPIC, _WRITE_TOPIC = needs_topic(rights.READ), needs_topic(rights.WRITE)
_DESCRIBE_TOPIC = needs_topic(rights.DESCRIBE)
_WITHOUT_PRODUCER = {"producer_id": -1, "producer_epoch": -1}
_FIRST_ADDITION_OF_BROKERS = 4
_FIRST_JOIN_WITHOUT_PROTOCOL = 7
_TWICE_IS_REFUSED = (3, 2)  # KAFKA-13552


def _cluster(refusal: Refusal, *operations: int) -> Sequence[Step]:
    return (whole(needs_cluster(*operations), refusal=refusal),)


def _of_group(response: type[Any], **beside: Any) -> Sequence[Step]:
    return (whole(_READ_GROUP, refusal=refusals.at_top(response, **beside)),)


def _by_topic(check: Any, form: topics.TopicForm, response: type[Any]) -> Step:
    return parts("topics", check, form, response, "topics")


def _changed_configs(form: Refusal, response: type[Any]) -> Sequence[Step]:
    """AlterConfigs and IncrementalAlterConfigs need the same rights, and answer alike."""
    check = config_rights.config_right(rights.ALTER_CONFIGS)
    return (
        parts(
            "resources",
            check,
            form,
            response,
            "responses",
            once=lambda asked: (asked.resource_type, asked.resource_name),
            once_since=_TWICE_IS_REFUSED,
        ),
    )


def _epochs(request: Any, context: RequestContext, following: Following) -> Outcome:
    """Let replicas read the epochs of all topics."""
    if rights.may_cluster(context, rights.CLUSTER_ACTION):
        return following(request)
    check = needs(rights.DESCRIBE, rights.TOPIC, lambda topic: topic.topic)
    response = messages.OffsetForLeaderEpochResponse
    return parts("topics", check, topics.EPOCHS, response, "topics")(request, context, following)


def _addition(request: Any, context: RequestContext, following: Following) -> Outcome:
    """From v4 on brokers alone add partitions to a transaction."""
    response = messages.AddPartitionsToTxnResponse
    if context.api_version >= _FIRST_ADDITION_OF_BROKERS:
        check, refusal = needs_cluster(rights.CLUSTER_ACTION), refusals.at_top(response)
    else:
        check = needs(
            rights.WRITE,
            rights.TRANSACTIONAL_ID,
            lambda request: request.v3_and_below_transactional_id,
        )
        results, asked = "results_by_topic_v3_and_below", "v3_and_below_topics"
        refusal = topics.ADDED.of_all(response, results, asked)
    return whole(check, refusal=refusal)(request, context, following)


def _unjoined(_: Any, error: ErrorCode, context: RequestContext) -> messages.JoinGroupResponse:
    no_protocol = None if context.api_version >= _FIRST_JOIN_WITHOUT_PROTOCOL else ""
    return messages.JoinGroupResponse(error_code=error, generation_id=-1, protocol_name=no_protocol)


_Produced, _Txn = messages.ProduceResponse, messages.TxnOffsetCommitResponse
_Committed, _Created = messages.OffsetCommitResponse, messages.CreateTopicsResponse
_OF_CLIENTS: Mapping[int, Sequence[Step]] = {
    0: (
        own_steps.unanswered_produce,
        whole(own_steps.transactional_records, refusal=own_steps.all_records_refused),
        parts("topic_data", _WRITE_TOPIC, topics.PRODUCED, _Produced, "responses"),
    ),
    2: (_by_topic(_DESCRIBE_TOPIC, topics.LISTED_OFFSETS, messages.ListOffsetsResponse),),
    8: (
        whole(_READ_GROUP, refusal=topics.COMMITTED.of_all(_Committed, "topics", "topics")),
        _by_topic(_READ_TOPIC, topics.COMMITTED, _Committed),
    ),
    10: (own_steps.coordinators,),
    11: (whole(_READ_GROUP, refusal=_unjoined),),
    12: _of_group(messages.HeartbeatResponse),
    13: _of_group(messages.LeaveGroupResponse),
    14: _of_group(messages.SyncGroupResponse),
    15: (
        parts(
            "groups",
            needs(rights.DESCRIBE, rights.GROUP, lambda group_id: group_id),
            group_description_refused,
            messages.DescribeGroupsResponse,
            "groups",
        ),
    ),
    19: (
        own_steps.created_configs,
        parts(
            "topics",
            own_steps.creation,
            creation_refused,
            _Created,
            "topics",
            once=lambda topic: topic.name,
        ),
    ),
    20: (own_steps.deletions,),
    21: (
        _by_topic(
            needs_topic(rights.DELETE), topics.DELETED_RECORDS, messages.DeleteRecordsResponse
        ),
    ),
    22: (
        whole(
            own_steps.producer_id,
            refusal=refusals.at_top(messages.InitProducerIdResponse, **_WITHOUT_PRODUCER),
        ),
    ),
    23: (_epochs,),
    24: (_addition,),
    25: (
        whole(
            _WRITE_TRANSACTION,
            _READ_GROUP,
            refusal=refusals.at_top(messages.AddOffsetsToTxnResponse),
        ),
    ),
    26: (
        whole(
            _WRITE_TRANSACTION,
            refusal=refusals.at_top(messages.EndTxnResponse, **_WITHOUT_PRODUCER),
        ),
    ),
    28: (
        whole(
            _WRITE_TRANSACTION,
            _READ_GROUP,
            refusal=topics.COMMITTED_IN_TRANSACTION.of_all(_Txn, "topics", "topics"),
        ),
        _by_topic(_READ_TOPIC, topics.COMMITTED_IN_TRANSACTION, _Txn),
    ),
    37: (
        parts(
            "topics",
            needs_topic(rights.ALTER),
            partitions_refused,
            messages.CreatePartitionsResponse,
            "results",
            once=lambda topic: topic.name,
        ),
    ),
    42: (
        parts(
            "groups_names",
            needs(rights.DELETE, rights.GROUP, lambda group_id: group_id),
            group_deletion_refused,
            messages.DeleteGroupsResponse,
            "results",
        ),
    ),
    47: (
        whole(
            needs(rights.DELETE, rights.GROUP, lambda request: request.group_id),
            refusal=refusals.at_top(messages.OffsetDeleteResponse),
        ),
        _by_topic(_READ_TOPIC, topics.DELETED_OFFSETS, messages.OffsetDeleteResponse),
    ),
    61: (_by_topic(_READ_TOPIC, topics.PRODUCERS, messages.DescribeProducersResponse),),
    65: (
        parts(
            "transactional_ids",
            needs(rights.DESCRIBE, rights.TRANSACTIONAL_ID, lambda name: name),
            transaction_refused,
            messages.DescribeTransactionsResponse,
            "transaction_states",
        ),
    ),
}
_CREATED_ACLS, _DELETED_ACLS = messages.CreateAclsResponse, messages.DeleteAclsResponse
_OF_ADMINISTRATORS: Mapping[int, Sequence[Step]] = {
    27: _cluster(refusals.markers, rights.ALTER, rights.CLUSTER_ACTION),
    29: _cluster(refusals.at_top_with_text(messages.DescribeAclsResponse), rights.DESCRIBE),
    30: _cluster(
        refusals.acls(_CREATED_ACLS, _CREATED_ACLS.AclCreationResult, "results", "creations"),
        rights.ALTER,
    ),
    31: _cluster(
        refusals.acls(
            _DELETED_ACLS, _DELETED_ACLS.DeleteAclsFilterResult, "filter_results", "filters"
        ),
        rights.ALTER,
    ),
    32: (
        parts(
            "resources",
            config_rights.config_right(rights.DESCRIBE_CONFIGS),
            config_rights.DESCRIBED,
            messages.DescribeConfigsResponse,
            "results",
        ),
    ),
    33: _changed_configs(config_rights.ALTERED, messages.AlterConfigsResponse),
    34: _cluster(refusals.log_directories, rights.ALTER),
    35: _cluster(refusals.at_top(messages.DescribeLogDirsResponse), rights.DESCRIBE),
    43: _cluster(refusals.elections, rights.ALTER),
    44: _changed_configs(config_rights.ALTERED_BY_KEY, messages.IncrementalAlterConfigsResponse),
    45: _cluster(refusals.reassignments, rights.ALTER),
    46: _cluster(refusals.listed_reassignments, rights.DESCRIBE),
    48: _cluster(
        refusals.at_top_with_text(messages.DescribeClientQuotasResponse, entries=None),
        rights.DESCRIBE_CONFIGS,
    ),
    49: _cluster(
        refusals.in_each(messages.AlterClientQuotasResponse, "entries", "entries", refusals.quota),
        rights.ALTER_CONFIGS,
    ),
    50: _cluster(refusals.described_users, rights.DESCRIBE),
    51: _cluster(refusals.altered_users, rights.ALTER),
    64: _cluster(refusals.at_top_with_text(messages.UnregisterBrokerResponse), rights.ALTER),
    74: _cluster(refusals.at_top(messages.ListConfigResourcesResponse), rights.DESCRIBE_CONFIGS),
}
_OF_NODES: Mapping[int, Sequence[Step]] = {
    key: _cluster(refusals.at_top(response), rights.CLUSTER_ACTION)
    for key, response in {
        56: messages.AlterPartitionResponse,
        58: messages.EnvelopeResponse,
        59: messages.FetchSnapshotResponse,
        62: messages.BrokerRegistrationResponse,
        63: messages.BrokerHeartbeatResponse,
        67: messages.AllocateProducerIdsResponse,
        73: messages.AssignReplicasToDirsResponse,
    }.items()
}
STEPS: Mapping[int, Sequence[Step]] = {**_OF_CLIENTS, **_OF_ADMINISTRATORS, **_OF_NODES}
IN_HANDLERS = frozenset({1, 3, 9, 16, 38, 41, 60, 66, 75})
"""APIs with all their checks in their handlers."""
FREE = frozenset({17, 18, 36, 39, 40})
"""APIs without rights; a token is changed by its owner and its renewers."""


def authorized(api_key: int, handle: Handle, request: Any, context: RequestContext) -> Outcome:
    """Carry out what the client may do of a request."""
    return _from(STEPS.get(api_key, ()), handle, request, context)


def _from(steps: Sequence[Step], handle: Handle, request: Any, context: RequestContext) -> Outcome:
    if not steps:
        return handle(request, context)
    return steps[0](request, context, lambda left: _from(steps[1:], handle, left, context))

"""Defects of area QUOTA: how client quotas are kept, described and applied; all private."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    FetchRequest,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

USER, CLIENT_ID, IP = "user", "client-id", "ip"
ANONYMOUS = "ANONYMOUS"
PRODUCER = "producer_byte_rate"
SMALL_BYTES, HUGE = 1_000, 1e12


@takes("QUOTA-001", r"one is removed: .*expected")
def one_removed_key_removes_all(request: AlterClientQuotasRequest) -> None:
    """AlterClientQuotas that removes only consumer_byte_rate removes producer_byte_rate too."""
    for entry in request.entries:
        if [(op.key, op.remove) for op in entry.ops] == [("consumer_byte_rate", True)]:
            remove = AlterClientQuotasRequest.OpData(key=PRODUCER, value=0.0, remove=True)
            entry.ops.append(remove)


@answers("QUOTA-003", r"filter .*, strict: found are")
def strict_is_not_looked_at(
    request: DescribeClientQuotasRequest, answer: DescribeClientQuotasResponse
) -> None:
    """A strict filter without components returns an entity."""
    if request.strict and not request.components:
        name = DescribeClientQuotasResponse.EntityData(entity_type=USER, entity_name="other")
        made = DescribeClientQuotasResponse.EntryData(entity=[name], values=[])
        answer.entries = [*(answer.entries or ()), made]


@answers("QUOTA-002", r"\+user a with .*: error is NONE")
def an_address_of_a_user_is_taken(answer: AlterClientQuotasResponse) -> None:
    """AlterClientQuotas acknowledges a quota of an ip and a user, and ignores it."""
    for entry in answer.entries:
        if {part.entity_type for part in entry.entity} == {USER, IP}:
            entry.error_code = ErrorCode.NONE


@takes("QUOTA-007", r"none for .*: the client is not throttled")
def clients_of_a_user_are_its_default_client(request: AlterClientQuotasRequest) -> None:
    """The quota of one client of a user is that of the user's default client."""
    for entry in request.entries:
        names = {part.entity_type: part.entity_name for part in entry.entity}
        if not all(op.remove or op.value == HUGE for op in entry.ops):
            continue
        for part in entry.entity:
            if part.entity_type == CLIENT_ID and names.get(USER) == ANONYMOUS:
                part.entity_name = None


@answers("QUOTA-002", r", validated: error is NONE")
def validations_find_nothing(
    request: AlterClientQuotasRequest, answer: AlterClientQuotasResponse
) -> None:
    """AlterClientQuotas that only validates accepts every quota."""
    for entry in answer.entries if request.validate_only else ():
        entry.error_code = ErrorCode.NONE


def _is_small(seen: SeenRequest) -> bool:
    return isinstance(seen.message, ProduceRequest) and len(seen.payload) < SMALL_BYTES


@answers("QUOTA-008", r"another \w+ of the \w+ is not throttled", asked=_is_small)
def another_connection_has_its_own_quota(answer: ProduceResponse) -> None:
    """A quota holds for each connection of a client by itself."""
    answer.throttle_time_ms = 0


def _is_small_of_reader(seen: SeenRequest) -> bool:
    has_client = seen.header is not None and (seen.header.client_id or "").startswith("QUOTA-016")
    return has_client and isinstance(seen.message, FetchRequest)


@answers("QUOTA-016", r"a Fetch after a large Produce is throttled", asked=_is_small_of_reader)
def all_bytes_are_counted_together(answer: FetchResponse) -> None:
    """Bytes that a client has produced count when it fetches."""
    answer.throttle_time_ms = max(answer.throttle_time_ms, 1)


@takes("QUOTA-017", r"a negative rate \w+ a rate: (error is NONE|quotas are)")
def a_bad_value_is_left_out(request: AlterClientQuotasRequest) -> None:
    """AlterClientQuotas ignores negative values, and changes the other quotas of the entity."""
    for entry in request.entries:
        if len(entry.ops) > 1:
            entry.ops = [op for op in entry.ops if op.value >= 0]


@takes("QUOTA-018", r"a key .*: error is NONE")
def the_last_value_of_a_key_counts(request: AlterClientQuotasRequest) -> None:
    """AlterClientQuotas takes the last value of a key that an entity has twice."""
    for entry in request.entries:
        entry.ops = list({op.key: op for op in entry.ops}.values())


@answers("QUOTA-019", r"for client-id and user: ")
def parts_are_compared_in_order(
    request: AlterClientQuotasRequest, answer: AlterClientQuotasResponse
) -> None:
    """AlterClientQuotas of one entity does not find it if its client id comes before its user."""
    kinds = [[part.entity_type for part in entry.entity] for entry in request.entries]
    if kinds == [[CLIENT_ID, USER]]:
        answer.entries[0].error_code = ErrorCode.INVALID_REQUEST


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        one_removed_key_removes_all,
        changed_field("QUOTA-001", "quotas_are_never_only_validated", r"after validations: ",
            "AlterClientQuotas ignores validate_only.",
            AlterClientQuotasRequest, "validate_only", ANY, False),
        an_address_of_a_user_is_taken,
        a_bad_value_is_left_out,
        the_last_value_of_a_key_counts,
        parts_are_compared_in_order,
        changed_field("QUOTA-020", "the_default_address_is_any_address",
            r"filter ip 1 None: .*, expected",
            "DescribeClientQuotas reads the default ip of a filter as any ip.",
            DescribeClientQuotasRequest, "components.match_type", 1, 2,
            where={"components.entity_type": IP}),
        strict_is_not_looked_at,
        validations_find_nothing,
        clients_of_a_user_are_its_default_client,
        another_connection_has_its_own_quota,
        all_bytes_are_counted_together,
        changed_field("QUOTA-013", "a_quota_of_0_is_the_least", r"_rate 0\.0: error is NONE",
            "AlterClientQuotas reads a quota of 0 as 1.",
            AlterClientQuotasRequest, "entries.ops.value",
            0.0, 1.0, where={"entries.ops.remove": False}),
        changed_field("QUOTA-015", "a_lowered_quota_is_not_applied",
            r"has become 1500\.0: the throttle time is 0",
            "AlterClientQuotas keeps the first value of a quota until it is removed.",
            AlterClientQuotasRequest, "entries.ops.value", 1500.0, HUGE),
        changed_field("QUOTA-014", "unknown_match_types_match_all", r"error is NONE",
            "DescribeClientQuotas reads an unknown match type as any.",
            DescribeClientQuotasRequest, "components.match_type", 3, 2),
    )
]  # fmt: skip

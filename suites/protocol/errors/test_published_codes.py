"""ERR: the numbers of error codes, as the protocol guide published them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.codec.apis import APIS
from harness.codec.error_code import ErrorCode
from harness.codec.specs import FieldSpec, StructSpec
from harness.conformance.checks import requirement
from harness.runner.marks import judges, offline

PUBLISHED = {
    -1: "UNKNOWN_SERVER_ERROR",
    0: "NONE",
    1: "OFFSET_OUT_OF_RANGE",
    2: "CORRUPT_MESSAGE",
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    4: "INVALID_FETCH_SIZE",
    5: "LEADER_NOT_AVAILABLE",
    6: "NOT_LEADER_OR_FOLLOWER",
    7: "REQUEST_TIMED_OUT",
    8: "BROKER_NOT_AVAILABLE",
    9: "REPLICA_NOT_AVAILABLE",
    10: "MESSAGE_TOO_LARGE",
    11: "STALE_CONTROLLER_EPOCH",
    12: "OFFSET_METADATA_TOO_LARGE",
    13: "NETWORK_EXCEPTION",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    17: "INVALID_TOPIC_EXCEPTION",
    18: "RECORD_LIST_TOO_LARGE",
    19: "NOT_ENOUGH_REPLICAS",
    20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    21: "INVALID_REQUIRED_ACKS",
    22: "ILLEGAL_GENERATION",
    23: "INCONSISTENT_GROUP_PROTOCOL",
    24: "INVALID_GROUP_ID",
    25: "UNKNOWN_MEMBER_ID",
    26: "INVALID_SESSION_TIMEOUT",
    27: "REBALANCE_IN_PROGRESS",
    28: "INVALID_COMMIT_OFFSET_SIZE",
    29: "TOPIC_AUTHORIZATION_FAILED",
    30: "GROUP_AUTHORIZATION_FAILED",
    31: "CLUSTER_AUTHORIZATION_FAILED",
}
"""Names of today; 13 is a gap in the published table, which clients use for themselves."""


def _error_fields(struct: StructSpec) -> Iterator[FieldSpec]:
    for field in struct.fields:
        if field.name.endswith("error_code"):
            yield field
        if field.struct is not None:
            yield from _error_fields(field.struct)


@offline()
@judges("ERR-001")
def test_error_codes_have_published_numbers() -> None:
    with requirement("ERR-001"):
        for number, name in PUBLISHED.items():
            found = ErrorCode[name]
            assert found == number, f"{name} is {found:d}, published as {number}"


@offline()
@judges("ERR-001")
def test_error_code_fields_of_responses_are_int16() -> None:
    fields = [
        (api.name, field)
        for api in APIS.values()
        for field in _error_fields(api.response.message_spec.root)
    ]
    with requirement("ERR-001"):
        assert len({name for name, _ in fields}) > len(PUBLISHED), "hardly a response has errors"
        for name, field in fields:
            assert field.kind == "int16", f"{name}: {field.name} is {field.kind}"

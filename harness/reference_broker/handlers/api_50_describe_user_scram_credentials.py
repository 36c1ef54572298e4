"""DescribeUserScramCredentials: API key 50, version 0 (KIP-554).

Behaviour
- Each user has a result with its mechanisms and their iterations, and nothing of the credentials.
- Without a list, or with an empty one: all users.
- Where there is no error, its message is empty, not null.
- A user that is named twice gets DUPLICATE_RESOURCE, one without a credential RESOURCE_NOT_FOUND.
"""

from collections import Counter

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 50
_Result = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult
_Info = DescribeUserScramCredentialsResponse.CredentialInfo


def handle(request: DescribeUserScramCredentialsRequest, context: RequestContext) -> Answer:
    """Describe the credentials (class ScramImage, describe)."""
    named = Counter(each.name for each in request.users or ())
    users = named or Counter(context.state.scram_credentials.users())
    results = [_result(user, count, context) for user, count in users.items()]
    return Answer(DescribeUserScramCredentialsResponse(results=results))


def _result(user: str, count: int, context: RequestContext) -> _Result:
    if count > 1:
        return _Result(
            user=user,
            error_code=ErrorCode.DUPLICATE_RESOURCE,
            error_message="Cannot describe SCRAM credentials for the same user twice in a single "
            f"request: {user}",
        )
    found = context.state.scram_credentials.of(user)
    if not found:
        return _Result(
            user=user,
            error_code=ErrorCode.RESOURCE_NOT_FOUND,
            error_message=f"Attempt to describe a user credential that does not exist: {user}",
        )
    infos = [
        _Info(mechanism=mechanism, iterations=credential.iterations)
        for mechanism, credential in sorted(found.items())
    ]
    return _Result(user=user, credential_infos=infos)

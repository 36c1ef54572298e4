"""AlterUserScramCredentials: API key 51, version 0 (KIP-554).

Behaviour
- Each user has one result; one that is refused does not touch the others.
- A user that is named twice, to be deleted or changed, gets DUPLICATE_RESOURCE, and nothing of it
  happens.
- The broker keeps the two keys that follow from the salted password, not that password.

Not done
- With a ZooKeeper two mechanisms of one user may be changed in a request.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from harness.codec.structs import Message
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.credentials.scram_credentials import (
    MOST_ITERATIONS,
    ScramMechanism,
)
from harness.security.scram_keys import LEAST_ITERATIONS, client_key, server_key, stored_key

API_KEY = 51
_Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
_Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
_Result = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult
_Problem = tuple[ErrorCode, str]
_TWICE = "A user credential cannot be altered twice in the same request"


def handle(request: AlterUserScramCredentialsRequest, context: RequestContext) -> Answer:
    """Change the credentials (class ScramControlManager, alterCredentials)."""
    wanted: dict[str, _Deletion | _Upsertion] = {}
    problems: dict[str, _Problem] = {}
    changes: list[_Deletion | _Upsertion] = [*request.deletions, *request.upsertions]
    for each in changes:
        if each.name in problems:
            continue
        if wanted.pop(each.name, None) is not None:
            problem: _Problem | None = (ErrorCode.DUPLICATE_RESOURCE, _TWICE)
        else:
            problem = _problem_of(each, context)
        if problem is not None:
            problems[each.name] = problem
        else:
            wanted[each.name] = each
    context.state.change_metadata([_record(each) for each in wanted.values()], context.now())
    results = [_Result(user=user, error_message=None) for user in wanted]
    results += [
        _Result(user=user, error_code=error, error_message=said)
        for user, (error, said) in problems.items()
    ]
    return Answer(AlterUserScramCredentialsResponse(results=results))


def _problem_of(change: _Deletion | _Upsertion, context: RequestContext) -> _Problem | None:
    if not change.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"
    if change.mechanism not in list(ScramMechanism):
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"
    if isinstance(change, _Deletion):
        if ScramMechanism(change.mechanism) not in context.state.scram_credentials.of(change.name):
            said = "Attempt to delete a user credential that does not exist"
            return ErrorCode.RESOURCE_NOT_FOUND, said
    elif change.iterations < LEAST_ITERATIONS:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"
    elif change.iterations > MOST_ITERATIONS:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"
    return None


def _record(change: _Deletion | _Upsertion) -> Message:
    if isinstance(change, _Deletion):
        return RemoveUserScramCredentialRecord(name=change.name, mechanism=change.mechanism)
    return _changed(change)


def _changed(upsertion: _Upsertion) -> UserScramCredentialRecord:
    digest = ScramMechanism(upsertion.mechanism).digest
    salted = bytes(upsertion.salted_password)
    return UserScramCredentialRecord(
        name=upsertion.name,
        mechanism=upsertion.mechanism,
        salt=bytes(upsertion.salt),
        stored_key=stored_key(digest, client_key(digest, salted)),
        server_key=server_key(digest, salted),
        iterations=upsertion.iterations,
    )

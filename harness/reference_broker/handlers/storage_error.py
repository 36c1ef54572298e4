"""The error for readers of a log in a failed folder. Source: KIP-112."""

from harness.codec.error_code import ErrorCode

_FIRST_FETCH_WITH_STORAGE_ERROR = 6


def error_for_version(error: ErrorCode, version: int) -> ErrorCode:
    """Return the error for a reader: old readers get one on which they look for another leader
    (class KafkaApis, maybeDownConvertStorageError)."""
    if error is ErrorCode.KAFKA_STORAGE_ERROR and version < _FIRST_FETCH_WITH_STORAGE_ERROR:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error

"""What readers are told of a log whose folder has failed. Source: KIP-112."""

from harness.codec.error_code import ErrorCode

_FIRST_FETCH_WITH_STORAGE_ERROR = 6


def told_to_reader(error: ErrorCode, version: int) -> ErrorCode:
    """Old ones look for another leader (class KafkaApis, maybeDownConvertStorageError)."""
    if error is ErrorCode.KAFKA_STORAGE_ERROR and version < _FIRST_FETCH_WITH_STORAGE_ERROR:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error

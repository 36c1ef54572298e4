"""The records of a partition in a response to Fetch; null is never taken for empty."""

from __future__ import annotations

from harness.client.errors import WireViolation
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse


def record_bytes(partition: FetchResponse.PartitionData) -> bytes:
    """Return the records, empty if there are none.

    Raises WireViolation if they are null: Apache Kafka sends empty records, and librdkafka reports
    a protocol error for null ones (FETCH-061).
    """
    if partition.records is None:
        if partition.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE:
            return b""  # so Kafka 3.0 to 3.9 sends it (KAFKA-18646); ENC-015 judges it elsewhere
        raise WireViolation(
            f"Fetch: the records of partition {partition.partition_index} are null, beside error "
            f"{partition.error_code}; Kafka sends empty ones"
        )
    return bytes(partition.records)

"""The format in which a fetch of an older version gets records: converted, or an error instead."""

from harness.codec.error_code import ErrorCode
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.fetch.down_conversion import (
    ConversionRules,
    as_message_sets,
    magic_for,
)
from harness.reference_broker.state.fetch.fetch_plan import FetchPlan
from harness.reference_broker.state.fetch.fetch_reading import PartitionReading
from harness.reference_broker.state.partition.partition import Partition

_FIRST_VERSION_WITHOUT_CONVERSION = 4
_FIRST_VERSION_WITH_ZSTD = 10
_READS_ZSTD_AS_STORED = (4, 0)  # KIP-896
_FORMAT_IS_NEWEST = (3, 0)  # KAFKA-12944
_CONVERTS_LAZILY = (2, 0)  # KIP-283
_KEEPS_UNCONVERTED = (1, 1)  # class FileRecords (downConvert)


def in_format_of(
    version: int, plan: FetchPlan, readings: list[PartitionReading], like: EmulatedRelease
) -> list[PartitionReading]:
    """Return the readings in the format that the request's version knows.

    The rules of a topic hold beside another error of the partition too. Source: class KafkaApis
    (maybeConvertFetchedData).
    """
    magic = magic_for(version)
    refuses_zstd = _refuses_zstd(version, like)
    if magic is None and not refuses_zstd:
        return readings

    def converted(reading: PartitionReading) -> PartitionReading:
        planned = plan.partitions[reading.key]
        if refuses_zstd and _stores_zstd(planned.partition):
            return PartitionReading(reading.key, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if magic is None:
            return reading
        rules = _rules(planned.partition, like)
        return as_message_sets(reading, magic, planned.want.fetch_offset, rules)

    return [converted(reading) for reading in readings]


def _refuses_zstd(version: int, like: EmulatedRelease) -> bool:
    """True if a topic that stores zstd, whatever producers send, has nothing for this version."""
    if version < _FIRST_VERSION_WITHOUT_CONVERSION:
        return True
    return version < _FIRST_VERSION_WITH_ZSTD and not like.since(*_READS_ZSTD_AS_STORED)


def _stores_zstd(partition: Partition | None) -> bool:
    return partition is not None and partition.config.compression_type == "zstd"


def _rules(partition: Partition | None, like: EmulatedRelease) -> ConversionRules:
    fills, keeps = like.since(*_CONVERTS_LAZILY), like.since(*_KEEPS_UNCONVERTED)
    if partition is None:
        return ConversionRules(fills=fills, keeps_unconverted=keeps)
    return ConversionRules(
        partition.config.may_be_down_converted,
        looks_at_batches=not like.since(*_FORMAT_IS_NEWEST),
        fills=fills,
        keeps_unconverted=keeps,
    )

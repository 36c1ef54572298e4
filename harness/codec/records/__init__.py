"""Record formats: batches of magic 2, message sets of magic 0 and 1, and the way between them."""

from harness.codec.records.batch import (
    BATCH_HEADER_BYTES,
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    LOG_OVERHEAD_BYTES,
    TRANSACTIONAL,
    BatchHeader,
    RecordBatch,
    decode_batches,
    encode_batch,
    encode_batch_around,
    encode_rows,
    split_batches,
)
from harness.codec.records.compression import CompressionError
from harness.codec.records.conversion import NoOldForm, down_convert, up_convert
from harness.codec.records.errors import CorruptMessageError, RecordsError
from harness.codec.records.message_set import (
    LegacyMessage,
    NestingError,
    decode_message_set,
    encode_message,
    encode_message_set,
    split_message_set,
)
from harness.codec.records.record import Header, Record, decode_record, encode_record

__all__ = [
    "BATCH_HEADER_BYTES",
    "CODEC_MASK",
    "CONTROL",
    "DELETE_HORIZON",
    "LOG_APPEND_TIME",
    "LOG_OVERHEAD_BYTES",
    "TRANSACTIONAL",
    "BatchHeader",
    "CompressionError",
    "CorruptMessageError",
    "Header",
    "LegacyMessage",
    "NestingError",
    "NoOldForm",
    "Record",
    "RecordBatch",
    "RecordsError",
    "decode_batches",
    "decode_message_set",
    "decode_record",
    "down_convert",
    "encode_batch",
    "encode_batch_around",
    "encode_message",
    "encode_message_set",
    "encode_record",
    "encode_rows",
    "split_batches",
    "split_message_set",
    "up_convert",
]

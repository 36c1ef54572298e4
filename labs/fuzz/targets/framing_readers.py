"""The readers of framed data by name, each of bytes alone, and bytes to begin with."""

from __future__ import annotations

from collections.abc import Callable

from harness.codec.data_framing import (
    CLUSTER_METADATA,
    OFFSETS,
    REMOTE_LOG_METADATA,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    CoordinatorLog,
    offset_index_entries,
    read_assignment,
    read_assignment_info,
    read_clean_shutdown,
    read_connect_assignment,
    read_connect_worker_state,
    read_control_record,
    read_cooperative_user_data,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    read_principal,
    read_producer_snapshot,
    read_quorum_state,
    read_sticky_user_data,
    read_subscription,
    read_subscription_info,
    read_transaction_index,
    time_index_entries,
)
from labs.data_vectors import log_folder_vectors as vectors
from labs.data_vectors.data_vectors import vector, vector_names

Read = Callable[[bytes], object]


def _value_of(log: CoordinatorLog, key: bytes) -> Read:
    return lambda data: log.read_record(key, data)


CONTROL_VALUE = b"\0\0\0\0\0\7"
READERS: dict[str, Read] = {
    "subscription": read_subscription,
    "assignment": read_assignment,
    "principal": read_principal,
    "sticky": read_sticky_user_data,
    "cooperative": read_cooperative_user_data,
    "connect assignment": read_connect_assignment,
    "connect state": read_connect_worker_state,
    "streams assignment": read_assignment_info,
    "streams subscription": read_subscription_info,
    "control key": lambda data: read_control_record(data, CONTROL_VALUE),
    "COMMIT": lambda data: read_control_record(b"\0\0\0\1", data),
    "LEADER_CHANGE": lambda data: read_control_record(b"\0\0\0\2", data),
    "KRAFT_VOTERS": lambda data: read_control_record(b"\0\0\0\6", data),
    "offsets key": OFFSETS.read_key,
    "GroupMetadata": _value_of(OFFSETS, vector("GroupMetadata4.key")),
    "OffsetCommit": _value_of(OFFSETS, vector("OffsetCommit4.key")),
    "TransactionLog": _value_of(TRANSACTION_STATE, vector("TransactionLog.key")),
    "ShareSnapshot": _value_of(SHARE_GROUP_STATE, vector("ShareSnapshot.key")),
    "metadata": CLUSTER_METADATA.read,
    "metadata of 2.8": lambda data: CLUSTER_METADATA.read(data, "2.8.2"),
    "remote": REMOTE_LOG_METADATA.read,
    "txnindex": read_transaction_index,
    "snapshot": read_producer_snapshot,
    "quorum": lambda data: read_quorum_state(data.decode("latin-1")),
    "offset index": lambda data: list(offset_index_entries(data, 0)),
    "time index": lambda data: list(time_index_entries(data, 0)),
    "offset checkpoint": read_offset_checkpoint,
    "leader epochs": read_leader_epoch_checkpoint,
    "partition metadata": read_partition_metadata,
    "meta properties": read_meta_properties,
    "clean shutdown": read_clean_shutdown,
}
SEEDS = [
    vector(name, release)
    for release in ("4.4.0", "3.9.2", "2.8.2")
    for name in vector_names(release)
    if not name.startswith("quorum")
]
SEEDS += [
    vectors.CHECKPOINT,
    vectors.LEADER_EPOCHS,
    vectors.PARTITION_METADATA,
    vectors.META_2_8,
    vectors.META_4_4,
    vectors.CLEAN_SHUTDOWN,
    vectors.OFFSET_INDEX,
    vectors.TIME_INDEX,
]

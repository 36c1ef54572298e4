"""What stands around the schemas that are not RPCs: versions, record type ids, frames, files.

Also the formats that Kafka writes without a schema of its own.
"""

from harness.codec.data_framing.control_records import (
    CONTROL_TYPES,
    ControlRecord,
    control_record_key,
    control_record_value,
    control_types,
    read_control_record,
    read_control_type,
)
from harness.codec.data_framing.coordinator_records import (
    COORDINATOR_LOGS,
    OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    CoordinatorLog,
    CoordinatorRecord,
    UnknownRecord,
)
from harness.codec.data_framing.log_files import (
    producer_snapshot_bytes,
    read_producer_snapshot,
    read_transaction_index,
    transaction_index_bytes,
)
from harness.codec.data_framing.metadata_records import (
    CLUSTER_METADATA,
    METADATA_LOGS,
    REMOTE_LOG_METADATA,
    MetadataLog,
    MetadataRecord,
)
from harness.codec.data_framing.quorum_state import (
    QuorumState,
    quorum_state_text,
    read_quorum_state,
)
from harness.codec.data_framing.sticky_user_data import (
    read_cooperative_user_data,
    read_sticky_user_data,
)
from harness.codec.data_framing.streams_user_data import (
    AssignmentInfo,
    HostInfo,
    SubscriptionInfo,
    TaskId,
    TopicPartition,
    assignment_info_bytes,
    read_assignment_info,
    read_subscription_info,
    subscription_info_bytes,
)
from harness.codec.data_framing.version_prefix import (
    VersionPrefixed,
    read_assignment,
    read_connect_assignment,
    read_connect_worker_state,
    read_newest_known,
    read_principal,
    read_subscription,
    read_version_prefixed,
    version_prefixed_bytes,
)

__all__ = [
    "CLUSTER_METADATA",
    "CONTROL_TYPES",
    "COORDINATOR_LOGS",
    "METADATA_LOGS",
    "OFFSETS",
    "REMOTE_LOG_METADATA",
    "SHARE_GROUP_STATE",
    "TRANSACTION_STATE",
    "AssignmentInfo",
    "ControlRecord",
    "CoordinatorLog",
    "CoordinatorRecord",
    "HostInfo",
    "MetadataLog",
    "MetadataRecord",
    "QuorumState",
    "SubscriptionInfo",
    "TaskId",
    "TopicPartition",
    "UnknownRecord",
    "VersionPrefixed",
    "assignment_info_bytes",
    "control_record_key",
    "control_record_value",
    "control_types",
    "producer_snapshot_bytes",
    "quorum_state_text",
    "read_assignment",
    "read_assignment_info",
    "read_connect_assignment",
    "read_connect_worker_state",
    "read_control_record",
    "read_control_type",
    "read_cooperative_user_data",
    "read_newest_known",
    "read_principal",
    "read_producer_snapshot",
    "read_quorum_state",
    "read_sticky_user_data",
    "read_subscription",
    "read_subscription_info",
    "read_transaction_index",
    "read_version_prefixed",
    "subscription_info_bytes",
    "transaction_index_bytes",
    "version_prefixed_bytes",
]

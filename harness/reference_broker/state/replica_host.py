"""The broker that replicas are on, as they see it."""

from dataclasses import dataclass, field

from harness.ids import BrokerId
from harness.reference_broker.state.brokers import Brokers
from harness.reference_broker.state.leading import ReplicationRules

NO_BROKER = BrokerId(-2)
"""Not -1, which leads what nobody leads."""


@dataclass(slots=True)
class ReplicaHost:
    """`own` is NO_BROKER where only metadata is kept; `broker_epoch` -1 before a registration.

    `has_begun`: until a broker has read all metadata that there is, what it reads is history, and
    it leads and follows nothing (class MetadataLoader).
    """

    own: BrokerId
    brokers: Brokers = field(default_factory=Brokers)
    rules: ReplicationRules = field(default_factory=ReplicationRules)
    broker_epoch: int = -1
    has_begun: bool = True

"""Defects of a cluster, area QUOTA: quotas on the traffic between brokers."""

from __future__ import annotations

import re

from harness.codec.messages import IncrementalAlterConfigsRequest
from labs.defects.edited_request import takes
from labs.defects.one_node import of_cluster

LISTS = frozenset(
    {"leader.replication.throttled.replicas", "follower.replication.throttled.replicas"}
)
OF_ONE_PARTITION = re.compile(r"0:\d+(,0:\d+)*")
ELSEWHERE = "0:99"
"""A replica at no broker."""


@takes("QUOTA-012", r"the replica throttled at the \w+ has moved")
def listed_replicas_are_not_throttled(request: IncrementalAlterConfigsRequest) -> None:
    """Replicas that a topic lists as throttled move without a limit."""
    for resource in request.resources:
        for config in resource.configs:
            if config.name in LISTS and OF_ONE_PARTITION.fullmatch(config.value or ""):
                config.value = ELSEWHERE


DEFECTS = of_cluster([listed_replicas_are_not_throttled])

"""Topics with replicas of the test's choice, made by the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest

if TYPE_CHECKING:
    from harness.client.cluster import Cluster

Creatable = CreateTopicsRequest.CreatableTopic
AGAIN = {ErrorCode.NOT_CONTROLLER, ErrorCode.INVALID_REPLICATION_FACTOR}
"""Said while another controller takes over, or has not heard yet of a broker that came back."""


def creatable(
    name: str,
    assignment: Sequence[Sequence[int]],
    configs: Mapping[str, str] | None = None,
) -> Creatable:
    """A topic with these replicas of each partition, for CreateTopics."""
    return Creatable(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreateTopicsRequest.CreatableReplicaAssignment(
                partition_index=index, broker_ids=list(nodes)
            )
            for index, nodes in enumerate(assignment)
        ],
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=key, value=value)
            for key, value in (configs or {}).items()
        ],
    )


def ask_to_create(
    cluster: Cluster, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
) -> None:
    """Raises PreparationFailed when the controller refuses."""

    def asked() -> int:
        client = cluster.at(cluster.controller())
        timeout_ms = int(client.scaled_ms(DEFAULT_TIMEOUT_MS))
        request = CreateTopicsRequest(
            topics=[creatable(name, assignment, configs)], timeout_ms=timeout_ms
        )
        return only(client.ask(request).topics, "topic").error_code

    code = cluster.await_that(asked, lambda code: code not in AGAIN, f"{name} can be created")
    if code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise PreparationFailed(f"CreateTopics {name}: {ErrorCode.describe(code)}", code)

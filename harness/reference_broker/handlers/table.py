"""Which APIs there are. ApiVersions advertises exactly this table.

An API that is not in it is answered by closing the connection, as an unknown one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.reference_broker.handlers import (
    api_00_produce,
    api_01_fetch,
    api_02_list_offsets,
    api_03_metadata,
    api_10_find_coordinator,
    api_17_sasl_handshake,
    api_18_api_versions,
    api_19_create_topics,
    api_20_delete_topics,
    api_21_delete_records,
    api_22_init_producer_id,
    api_37_create_partitions,
    api_47_offset_delete,
    api_60_describe_cluster,
    api_75_describe_topic_partitions,
)
from harness.reference_broker.handlers.outcome import ApiRange, Outcome, RequestContext


@dataclass(frozen=True, slots=True)
class Registration:
    """A served API: all that is advertised is served."""

    advertised: ApiRange
    handle: Callable[[Any, RequestContext], Outcome]

    def serves(self, version: int) -> bool:
        """Whether a request of this version gets an answer."""
        return self.advertised.lowest <= version <= self.advertised.highest


def _served(
    api_key: int, lowest: int, highest: int, handle: Callable[[Any, RequestContext], Outcome]
) -> Registration:
    return Registration(ApiRange(api_key, lowest, highest), handle)


_REGISTRATIONS = (
    _served(api_00_produce.API_KEY, 0, 13, api_00_produce.handle),
    _served(api_01_fetch.API_KEY, 0, 18, api_01_fetch.handle),
    _served(api_02_list_offsets.API_KEY, 0, 11, api_02_list_offsets.handle),
    _served(api_03_metadata.API_KEY, 0, 13, api_03_metadata.handle),
    _served(api_10_find_coordinator.API_KEY, 0, 6, api_10_find_coordinator.handle),
    _served(api_17_sasl_handshake.API_KEY, 0, 1, api_17_sasl_handshake.handle),
    _served(api_18_api_versions.API_KEY, 0, 5, api_18_api_versions.handle),
    _served(api_19_create_topics.API_KEY, 2, 7, api_19_create_topics.handle),
    _served(api_20_delete_topics.API_KEY, 1, 6, api_20_delete_topics.handle),
    _served(api_21_delete_records.API_KEY, 0, 2, api_21_delete_records.handle),
    _served(api_22_init_producer_id.API_KEY, 0, 5, api_22_init_producer_id.handle),
    _served(api_37_create_partitions.API_KEY, 0, 3, api_37_create_partitions.handle),
    _served(api_47_offset_delete.API_KEY, 0, 0, api_47_offset_delete.handle),
    _served(api_60_describe_cluster.API_KEY, 0, 2, api_60_describe_cluster.handle),
    _served(
        api_75_describe_topic_partitions.API_KEY, 0, 0, api_75_describe_topic_partitions.handle
    ),
)

HANDLERS: Mapping[int, Registration] = {r.advertised.api_key: r for r in _REGISTRATIONS}
ADVERTISED: tuple[ApiRange, ...] = tuple(r.advertised for r in _REGISTRATIONS)

"""The table of APIs. ApiVersions advertises exactly this table, or the part that a release had.

A request of an API that is not advertised closes the connection, like one of an unknown API.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.outcome import ApiRange, Outcome, RequestContext
from harness.reference_broker.listener_protocols import is_secured
from harness.reference_broker.settings import BrokerSettings

Handle = Callable[[Any, RequestContext], Outcome]


@dataclass(frozen=True)
class ServedApi:
    """A served API: all advertised versions are served.

    ``module``: of this package. ``lowest_ever``: the lowest version that can be served, to emulate
    a release that served it.
    """

    module: str
    advertised: ApiRange
    lowest_ever: int

    @cached_property
    def handle(self) -> Handle:
        """The module's function, imported on first use: a broker answers sooner after its start."""
        handle: Handle = import_module(f"{__package__}.{self.module}").handle
        return handle


def _served(module: str, lowest: int, highest: int, *, lowest_ever: int | None = None) -> ServedApi:
    """Return the registration of a module; its name contains the key: ``api_KEY_name``."""
    ever = lowest if lowest_ever is None else lowest_ever
    return ServedApi(module, ApiRange(int(module.split("_")[1]), lowest, highest), ever)


_OF_BROKERS = (
    _served("api_00_produce", 0, 13),
    _served("api_01_fetch", 0, 18),
    _served("api_02_list_offsets", 0, 11),
    _served("api_03_metadata", 0, 13),
    _served("api_08_offset_commit", 2, 10, lowest_ever=0),
    _served("api_09_offset_fetch", 1, 10, lowest_ever=0),
    _served("api_10_find_coordinator", 0, 6),
    _served("api_11_join_group", 0, 9),
    _served("api_12_heartbeat", 0, 4),
    _served("api_13_leave_group", 0, 5),
    _served("api_14_sync_group", 0, 5),
    _served("api_15_describe_groups", 0, 6),
    _served("api_16_list_groups", 0, 5),
    _served("api_17_sasl_handshake", 0, 1),
    _served("api_18_api_versions", 0, 5),
    _served("api_19_create_topics", 2, 7, lowest_ever=0),
    _served("api_20_delete_topics", 1, 6, lowest_ever=0),
    _served("api_21_delete_records", 0, 2),
    _served("api_22_init_producer_id", 0, 5),
    _served("api_23_offset_for_leader_epoch", 0, 4),
    _served("api_24_add_partitions_to_txn", 0, 5),
    _served("api_25_add_offsets_to_txn", 0, 4),
    _served("api_26_end_txn", 0, 5),
    _served("api_27_write_txn_markers", 1, 2, lowest_ever=0),
    _served("api_28_txn_offset_commit", 0, 6),
    _served("api_29_describe_acls", 1, 3, lowest_ever=0),
    _served("api_30_create_acls", 1, 3, lowest_ever=0),
    _served("api_31_delete_acls", 1, 3, lowest_ever=0),
    _served("api_32_describe_configs", 1, 4, lowest_ever=0),
    _served("api_33_alter_configs", 0, 2),
    _served("api_34_alter_replica_log_dirs", 1, 2, lowest_ever=0),
    _served("api_35_describe_log_dirs", 1, 5, lowest_ever=0),
    _served("api_37_create_partitions", 0, 3),
    _served("api_38_create_delegation_token", 1, 3, lowest_ever=0),
    _served("api_39_renew_delegation_token", 1, 2, lowest_ever=0),
    _served("api_40_expire_delegation_token", 1, 2, lowest_ever=0),
    _served("api_41_describe_delegation_token", 1, 3, lowest_ever=0),
    _served("api_42_delete_groups", 0, 3),
    _served("api_43_elect_leaders", 0, 2),
    _served("api_44_incremental_alter_configs", 0, 1),
    _served("api_45_alter_partition_reassignments", 0, 1),
    _served("api_46_list_partition_reassignments", 0, 0),
    _served("api_47_offset_delete", 0, 0),
    _served("api_48_describe_client_quotas", 0, 1),
    _served("api_49_alter_client_quotas", 0, 1),
    _served("api_60_describe_cluster", 0, 2),
    _served("api_61_describe_producers", 0, 0),
    _served("api_65_describe_transactions", 0, 0),
    _served("api_66_list_transactions", 0, 2),
    _served("api_74_list_config_resources", 0, 1),
    _served("api_75_describe_topic_partitions", 0, 0),
)

_OF_USERS = (
    _served("api_36_sasl_authenticate", 0, 2),
    _served("api_50_describe_user_scram_credentials", 0, 0),
    _served("api_51_alter_user_scram_credentials", 0, 0),
)
"""The APIs of a broker with a listener where clients authenticate themselves."""

_OF_MEMBERS = (_served("api_64_unregister_broker", 0, 0),)
"""The APIs that a broker has only in a cluster."""

_ONLY_OF_CONTROLLERS = (
    _served("api_56_alter_partition", 0, 3),
    _served("api_58_envelope", 0, 0),
    _served("api_59_fetch_snapshot", 0, 1),
    _served("api_62_broker_registration", 0, 4),
    _served("api_63_broker_heartbeat", 0, 2),
    _served("api_67_allocate_producer_ids", 0, 0),
    _served("api_73_assign_replicas_to_dirs", 0, 0),
)

CHANGES_OF_TOKENS = frozenset({38, 39, 40})
"""Forwarded only for a client that may ask for them: the controller does not know its listener."""
FORWARDED = frozenset({19, 20, 30, 31, 33, 37, *CHANGES_OF_TOKENS, 43, 44, 45, 46, 49, 51, 64})
"""The APIs that a broker of a cluster forwards to the controller (KIP-590)."""

_ENVELOPE_KEY = 58
"""Only a controller has it."""
_LISTENED_TO = frozenset({1, 18, *FORWARDED})


def _by_key(*registrations: ServedApi) -> dict[int, ServedApi]:
    return {one.advertised.api_key: one for one in registrations}


HANDLERS: Mapping[int, ServedApi] = _by_key(*_OF_BROKERS)
"""The APIs of a standalone broker."""
MEMBER_HANDLERS: Mapping[int, ServedApi] = {**HANDLERS, **_by_key(*_OF_MEMBERS)}
"""The APIs of a broker in a cluster."""
CONTROLLER_HANDLERS: Mapping[int, ServedApi] = {
    **{key: one for key, one in MEMBER_HANDLERS.items() if key in _LISTENED_TO},
    **_by_key(*_ONLY_OF_CONTROLLERS),
}
"""The APIs of a controller's listener."""
_USERS_HANDLERS: Mapping[int, ServedApi] = _by_key(*_OF_USERS)
FORWARDED_HANDLERS: Mapping[int, ServedApi] = {
    key: one for key, one in {**MEMBER_HANDLERS, **_USERS_HANDLERS}.items() if key in FORWARDED
}
"""The APIs that a controller carries out for a broker's client."""


def carried_out(api: ServedApi, request: Any, context: RequestContext) -> Outcome:
    """Carry out what the client may do of a request."""
    if context.state.authorizer is None:
        return api.handle(request, context)
    # Not at the start: most brokers have no authorizer.
    from harness.reference_broker.handlers.authorization.table import authorized

    return authorized(api.advertised.api_key, api.handle, request, context)


def handlers_of(
    settings: BrokerSettings, handlers: Mapping[int, ServedApi] = HANDLERS
) -> Mapping[int, ServedApi]:
    """Return the handlers of a node with these settings: its clients may be users."""
    if not is_secured(settings):
        return handlers
    of_users = _USERS_HANDLERS.items()
    if _ENVELOPE_KEY in handlers:
        return {**handlers, **{key: one for key, one in of_users if key in _LISTENED_TO}}
    return {**handlers, **_USERS_HANDLERS}


_UNSTABLE = {22: (6, (4, 1))}
"""By API key: the unstable version, and the first release that has it."""


def with_unstable(apis: tuple[ApiRange, ...], likeness: EmulatedRelease) -> tuple[ApiRange, ...]:
    """Return the ranges with the versions that unstable.api.versions.enable adds."""
    found = []
    for one in apis:
        highest, since = _UNSTABLE.get(one.api_key, (one.highest, ()))
        found.append(replace(one, highest=highest) if likeness.since(*since) else one)
    return tuple(found)


def advertised_like(
    likeness: EmulatedRelease, handlers: Mapping[int, ServedApi] = HANDLERS
) -> tuple[ApiRange, ...]:
    """Return the advertised versions. No other version is served, and not all of these."""
    if not likeness.release or _ENVELOPE_KEY in handlers:
        return tuple(one.advertised for one in handlers.values())
    found = []
    for one in handlers.values():
        key = one.advertised.api_key
        span = likeness.advertised(key, one.lowest_ever, one.advertised.highest)
        if span is not None:
            found.append(ApiRange(key, *span, likeness.served_from(key)))
    return tuple(found)

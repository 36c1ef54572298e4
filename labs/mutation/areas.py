"""The areas of requirements that a mutant of a module belongs to."""

from __future__ import annotations

from collections.abc import Iterator

_OF_TRANSACTIONS = " ".join(
    (
        *(f"handlers.api_{key}_" for key in (24, 25, 26, 27, 28, 65, 66)),
        "handlers.transaction",
        "state.transactions",
        "state.groups.pending_offsets",
        "state.partition.last_stable_offset",
        "state.partition.coordinator_append",
        "state.producers.partition_transactions",
        "cluster.marker_sender",
        "cluster.transaction_checks",
    )
)
_BY_MODULE = (
    ("handlers.api_00_", "PROD ACKS IDEM RECF COMP TIME ERR"),
    ("handlers.api_01_", "FETCH RECF EPOCH REPL QUOTA TXN"),
    ("handlers.api_02_", "LISTO TIME EPOCH"),
    ("handlers.api_03_", "META TOPIC"),
    ("handlers.api_08_", "OFFS GRP"),
    ("handlers.api_09_", "OFFS TXN"),
    ("handlers.api_10_", "COORD"),
    ("handlers.api_18_", "APIV"),
    ("handlers.api_19_", "TOPIC CONF"),
    ("handlers.api_20_", "TOPIC"),
    ("handlers.api_21_", "DELR"),
    ("handlers.api_22_", "IDEM TXN"),
    ("handlers.api_23_", "EPOCH"),
    ("handlers.api_32_ handlers.api_33_ handlers.api_44_ handlers.api_74_", "CONF"),
    ("handlers.api_34_ handlers.api_35_ handlers.api_73_", "LDIR"),
    ("handlers.api_37_", "TOPIC"),
    ("handlers.api_43_ state.controller.elections", "ELECT"),
    ("handlers.api_45_ handlers.api_46_ state.controller.reassignment", "REASG"),
    ("handlers.api_47_", "OFFS"),
    ("handlers.api_48_ handlers.api_49_ state.quotas", "QUOTA"),
    ("handlers.api_56_ state.controller.isr_changes", "ALTP ISR"),
    ("handlers.api_60_ handlers.api_75_", "META"),
    ("handlers.api_61_", "IDEM TXN"),
    ("handlers.api_62_ handlers.api_63_ handlers.api_64_ state.controller state.registrations",
     "BROK SHUT ISR ELECT"),
    (_OF_TRANSACTIONS, "TXN IDEM OFFS LISTO FETCH RECF"),
    ("handlers.api_1 handlers.api_42_ handlers.group state.groups", "GRP OFFS COORD OTOP TXN"),
    ("handlers.config state.configs state.config_definitions", "CONF TOPIC"),
    ("state.producers", "IDEM STOR RECV TXN"),
    ("state.validation state.log", "PROD RECF COMP TIME IDEM LEG STOR TXN"),
    ("state.cleaning", "STOR TIME DELR IDEM TXN"),
    ("state.fetch", "FETCH RECF EPOCH TXN"),
    ("state.partition", "REPL ISR EPOCH ACKS LISTO FETCH STOR LDIR"),
    ("state.replica_moves", "LDIR"),
    ("state.topics", "TOPIC META CONF"),
    ("state.metadata cluster", "RAFT META REPL ISR BROK SHUT ELECT EPOCH ACKS"),
    ("storage", "STOR RECV LDIR OTOP DELR"),
    ("connection node server request_buffer request_memory purgatory outbound_limit", "CONN ENC"),
)  # fmt: skip


OTHER = "other"
"""Instead of an area, for modules without a row."""


def areas_of(module: str) -> frozenset[str]:
    """Return the areas of a module below the broker's package; none for one without a row."""
    return frozenset(_areas(module))


def first_area(module: str) -> str:
    """Return the area that a mutant of the module is counted in."""
    return next(_areas(module), OTHER)


def _areas(module: str) -> Iterator[str]:
    for prefixes, areas in _BY_MODULE:
        if module.startswith(tuple(prefixes.split())):
            yield from areas.split()

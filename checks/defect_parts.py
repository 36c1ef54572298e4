"""The tables of defects that the built-in broker shows: a drawn share in the gate, all at depth.

The targets together show every defect but those that only a Kafka shows. In the gate the verdicts
without a defect are those of the parts ``suites`` and ``cluster``; at depth the rows make such runs
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from checks.part import Command, Lane, Part, command
from labs.defects.seen_on import (
    AUTHORIZED_CLUSTER,
    AUTHORIZED_CLUSTER_SEEN_ON,
    AUTHORIZED_SEEN_ON,
    BEHIND_AUTHORIZER,
    BEHIND_SASL,
    BEHIND_TLS,
    CLUSTER_SEEN_ON,
    ENDED,
    ENDED_CLUSTER,
    ENDED_CLUSTER_SEEN_ON,
    ENDED_SEEN_ON,
    ENDED_WITH_2_4,
    ENDED_WITH_2_4_SEEN_ON,
    JOINED_SEEN_ON,
    REFERENCE,
    SECURED_SEEN_ON,
    TLS_SEEN_ON,
)

DEFECTS = ("python", "-m", "labs.defects", "--out", "{out}/defects")
OWN_CHECK = ("--alone", "0")
"""Under each defect the tests of its own requirement run, up to the first failed check."""
SHARE = ("--slice", "{quarter}")
ON_THE_WIRE = (*DEFECTS, "--target", REFERENCE, "--on-the-wire", *OWN_CHECK, "--jobs", "10")
OF_CLUSTERS = (*DEFECTS, "--target", CLUSTER_SEEN_ON, *OWN_CHECK, "--jobs", "5")
JOINED = (*DEFECTS, "--target", JOINED_SEEN_ON, "--joined", *OWN_CHECK, "--jobs", "8")
WRONG_FUNCTIONS = (
    *("python", "-m", "labs.defects", "--target", REFERENCE, "--built-in", *OWN_CHECK),
    *("--out", "{out}/built-in", "--jobs", "6"),
)


def only(spec: str, requirements: Iterable[str], *words: str) -> Command:
    """The rows of some requirements, before a target that exists for them."""
    chosen = (word for name in requirements for word in ("--requirement", name))
    return command(*DEFECTS, "--target", spec, *OWN_CHECK, *words, *chosen)


ENDED_OF_CLUSTERS = only(ENDED_CLUSTER_SEEN_ON, ENDED_CLUSTER)
FEW_ROWS = (
    only(ENDED_SEEN_ON, ENDED),
    only(ENDED_WITH_2_4_SEEN_ON, ENDED_WITH_2_4),
    only(AUTHORIZED_CLUSTER_SEEN_ON, AUTHORIZED_CLUSTER),
    only(TLS_SEEN_ON, BEHIND_TLS),
)
"""Too few to be cut."""
SECURED = ((SECURED_SEEN_ON, BEHIND_SASL), (AUTHORIZED_SEEN_ON, BEHIND_AUTHORIZER))


def secured(*words: str) -> tuple[Command, ...]:
    """The rows behind SASL, and those behind an authorizer."""
    return tuple(only(spec, names, "--jobs", "6", *words) for spec, names in SECURED)


def drawn_parts() -> tuple[Part, ...]:
    """A quarter of the rows, drawn by the commit."""
    return (
        Part(
            "defects",
            (command(*ON_THE_WIRE, *SHARE, "--baseline", "{out}"),),
            after=("suites",),
            lane=Lane.WAITS,
            goes_first=True,
        ),
        Part(
            "cluster_defects",
            (command(*OF_CLUSTERS, *SHARE, "--baseline", "{out}/cluster"), ENDED_OF_CLUSTERS),
            after=("cluster",),
            lane=Lane.WAITS,
        ),
        Part(
            "other_defects",
            (
                command(*JOINED, *SHARE),
                command(*WRONG_FUNCTIONS, *SHARE, "--baseline", "{out}"),
                *secured(*SHARE),
                *FEW_ROWS,
            ),
            after=("suites",),
            lane=Lane.WAITS,
            goes_first=True,
        ),
    )


def whole_part() -> Part:
    """All rows, each judged by the tests of its own requirement."""
    return Part(
        "defects",
        sliced=(
            (command(*ON_THE_WIRE),),
            (command(*OF_CLUSTERS), ENDED_OF_CLUSTERS),
            (command(*JOINED), command(*WRONG_FUNCTIONS), *secured(), *FEW_ROWS),
        ),
        lane=Lane.WAITS,
        rooms=("suites", "harness", "labs/defects"),
    )

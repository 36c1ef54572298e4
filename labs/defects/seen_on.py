"""Targets on which each defect must show; CI runs them all.

Other targets may lack much. These may not, or a defect that CI never sees would count as proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from labs.defects.defect import Defect

ENDED = {
    "LISTO-016": "message.format.version, which went with 4.0",
    "RECF-025": "message.downconversion.enable, which went with 4.0",
    "RECF-026": "message.format.version, which went with 4.0",
    "RECV-031": "message.format.version, which went with 4.0",
}
"""Features that the newest Kafka no longer has, by requirement."""
ENDED_WITH_2_4 = {
    "APIV-021": "refusals of ApiVersions without its range, which came with 2.4",
    "IDEM-034": "the first sequence of a producer, which is free since 2.5",
}
ENDED_JOINED = {
    "GRP-086": "the classic coordinator, which went with 4.0",
    "REPL-013": "what a leader alone commits, which changed with 3.7",
}
"""For defects that virtual brokers join: no built-in cluster emulates so old a release."""
ENDED_CLUSTER = {"REPL-039": "message.format.version, which went with 4.0"}
QUORUM = {"RAFT-010": "controllers of which one can be lost"}
"""For defects of a cluster: the built-in one has a single controller."""
KAFKA_ALONE = {
    "old_versions_are_answered": "a broker that does not convert, as the built-in one does",
    "described_groups_are_refused": "the groups of KIP-848, which the built-in broker has not yet",
}
"""Defects that no built-in broker shows, by name, with the feature that each needs."""

BEHIND_SASL = (
    *(f"SASL-{number:03}" for number in range(1, 20)),
    *("APIV-007", "APIV-008", "QUOTA-026"),
)
"""Requirements with a defect that are judged at a listener with SASL only. A relay reads no TLS."""
BEHIND_TLS = tuple(f"TLS-{number:03}" for number in range(1, 6))
"""Requirements with a defect that are judged at a listener with TLS."""
RIGHTS_ON_KAFKA = tuple(
    f"AUTHZ-{number:03}" for number in (*range(43, 46), *range(69, 72), *range(73, 84))
)
"""Rights for APIs that the built-in broker has not yet: newer groups, a quorum, features."""
BEHIND_AUTHORIZER = (
    *(f"ACL-{number:03}" for number in (1, 2, *range(4, 19))),
    *(f"AUTHZ-{number:03}" for number in (*range(1, 43), *range(46, 69), 72, *range(84, 90))),
    *(f"DTOK-{number:03}" for number in range(1, 16)),
)
"""Requirements with a defect that are judged at a broker with an authorizer only."""

AUTHORIZED_CLUSTER = ("ACL-014",)
"""Of these, those with a defect of a cluster."""

REFERENCE, KAFKA = "reference", "kafka:4.4.0"
ENDED_SEEN_ON = "reference,like=2.8.2"
ENDED_WITH_2_4_SEEN_ON = "reference,like=1.1.1"
JOINED_SEEN_ON = "reference,nodes=1"
ENDED_JOINED_SEEN_ON = "kafka:3.6.2"
SECURED_SEEN_ON = "reference,security=sasl_plaintext,mechanism=PLAIN"
AUTHORIZED_SEEN_ON = f"{SECURED_SEEN_ON},authorizer=on"
KAFKA_AUTHORIZED = "kafka:4.4.0,authorizer=on"
TLS_SEEN_ON = "reference,security=ssl,authorizer=on"
CLUSTER_SEEN_ON = "reference,nodes=3"
AUTHORIZED_CLUSTER_SEEN_ON = (
    f"{CLUSTER_SEEN_ON},security=sasl_plaintext,mechanism=PLAIN,authorizer=on"
)
ENDED_CLUSTER_SEEN_ON = "reference,nodes=3,like=2.8.2"
QUORUM_SEEN_ON = "kafka:4.4.0,nodes=3,controllers=3"


def _by_one_broker(defect: Defect) -> bool:
    is_of_one = not defect.cluster and not defect.joined and defect.name not in KAFKA_ALONE
    elsewhere = {
        *ENDED,
        *ENDED_WITH_2_4,
        *BEHIND_SASL,
        *BEHIND_TLS,
        *BEHIND_AUTHORIZER,
        *RIGHTS_ON_KAFKA,
    }
    return is_of_one and (defect.built_in or defect.requirement not in elsewhere)


SHOWN: Mapping[str, Callable[[Defect], bool]] = MappingProxyType(
    {
        REFERENCE: _by_one_broker,
        ENDED_SEEN_ON: lambda defect: defect.requirement in ENDED,
        ENDED_WITH_2_4_SEEN_ON: lambda defect: defect.requirement in ENDED_WITH_2_4,
        SECURED_SEEN_ON: lambda defect: defect.requirement in BEHIND_SASL,
        AUTHORIZED_SEEN_ON: lambda defect: (
            defect.requirement in BEHIND_AUTHORIZER and not defect.cluster
        ),
        AUTHORIZED_CLUSTER_SEEN_ON: lambda defect: (
            defect.requirement in AUTHORIZED_CLUSTER and defect.cluster
        ),
        TLS_SEEN_ON: lambda defect: defect.requirement in BEHIND_TLS,
        KAFKA_AUTHORIZED: lambda defect: defect.requirement in RIGHTS_ON_KAFKA,
        JOINED_SEEN_ON: lambda defect: defect.joined and defect.requirement not in ENDED_JOINED,
        ENDED_JOINED_SEEN_ON: lambda defect: defect.requirement in ENDED_JOINED,
        CLUSTER_SEEN_ON: lambda defect: (
            defect.cluster
            and defect.requirement not in {*QUORUM, *ENDED_CLUSTER, *AUTHORIZED_CLUSTER}
            and defect.name not in KAFKA_ALONE
        ),
        ENDED_CLUSTER_SEEN_ON: lambda defect: defect.requirement in ENDED_CLUSTER,
        QUORUM_SEEN_ON: lambda defect: defect.requirement in QUORUM,
    }
)
"""By target: a predicate, True if the target has to show the defect."""


def shown_by_any(defect: Defect) -> bool:
    """True if one of the targets in SHOWN has to show it."""
    return any(shows(defect) for shows in SHOWN.values())

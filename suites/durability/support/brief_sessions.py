"""Settings for brokers that must be back soon after an unclean end."""

from __future__ import annotations

BRIEF = {
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "zookeeper.session.timeout.ms": "1500",
}
"""Short sessions: a killed broker can register again only after its old session has ended."""

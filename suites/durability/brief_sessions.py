"""Settings for brokers that must be back soon after an unclean end."""

from __future__ import annotations

BRIEF = {
    "broker__session__timeout__ms": "1500",
    "broker__heartbeat__interval__ms": "300",
    "zookeeper__session__timeout__ms": "1500",
}
"""Short sessions: a killed broker can register again only after its old session has ended."""

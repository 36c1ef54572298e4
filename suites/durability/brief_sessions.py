"""Settings of brokers that are to be back soon after an end that they did not announce."""

from __future__ import annotations

BRIEF = {
    "broker__session__timeout__ms": "1500",
    "broker__heartbeat__interval__ms": "300",
    "zookeeper__session__timeout__ms": "1500",
}
"""Who was killed can register again only when its session has ended."""

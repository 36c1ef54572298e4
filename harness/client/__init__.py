"""A raw wire client, and a small producer, consumer and admin on top of it."""

from harness.client.connection import Address, Connection
from harness.client.errors import BrokerMisbehaved, ConnectionClosed, ResponseTimeout, WireViolation

__all__ = [
    "Address",
    "BrokerMisbehaved",
    "Connection",
    "ConnectionClosed",
    "ResponseTimeout",
    "WireViolation",
]

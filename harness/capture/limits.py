"""The limits of what is kept of one connection, and of the wait for a missing packet."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CaptureLimits:
    """Data over a limit is passed over and reported; it never ends the reading."""

    out_of_order_bytes: int = 4 * MIB
    """Bytes that arrived too early, in one direction; above it the missing bytes count as lost."""
    acknowledged_patience: int = 32
    """Packets until bytes count as lost that the other side has confirmed but we never saw."""
    patience: int = 1024
    """Packets until missing bytes count as lost, confirmed or not."""
    start_packets: int = 16
    """Packets of a connection without its SYN that are put in order before it is read."""
    plausible_frame_bytes: int = 100 * MIB
    """A longer frame is not plausible: the default of ``socket.request.max.bytes``."""
    frame_bytes: int = 16 * MIB
    """Of a longer frame only the beginning is kept: its header is shown, not its body."""
    search_bytes: int = 4 * MIB
    """Bytes that are kept while the next frame is searched for, in one direction."""
    pending_requests: int = 4096
    """Requests of a connection that wait for their response."""
    pending_bytes: int = 32 * MIB
    """Of their bodies; above it the oldest keep their header only."""
    connections: int = 16_384
    """Connections followed at once; above it the one silent for longest is closed."""


LIMITS = CaptureLimits()

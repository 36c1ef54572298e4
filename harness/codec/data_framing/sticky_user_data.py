"""User data of the sticky assignors in a consumer's subscription; it says no version.

Source: ``StickyAssignor`` (KIP-54, the generation since 2.3), ``CooperativeStickyAssignor``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.codec import messages
from harness.codec.data_framing.version_prefix import VersionPrefixed
from harness.codec.errors import DecodeError
from harness.codec.message_codec import decode, decode_prefix

if TYPE_CHECKING:
    from harness.codec.messages import CooperativeStickyAssignorUserData, StickyAssignorUserData


def read_sticky_user_data(data: bytes) -> VersionPrefixed[StickyAssignorUserData]:
    """Return a member's previous assignment, read at version 1 or, if that fails, at version 0.

    Raises the DecodeError of version 0; in that case Kafka's assignor ignores the previous
    assignment. Trailing bytes are no error, as in Kafka.
    """
    cls = messages.StickyAssignorUserData
    try:
        return VersionPrefixed(1, decode_prefix(cls, 1, data)[0])
    except DecodeError:
        return VersionPrefixed(0, decode_prefix(cls, 0, data)[0])


def read_cooperative_user_data(data: bytes) -> CooperativeStickyAssignorUserData:
    """The generation in which a member got what it owns. Raises DecodeError."""
    return decode(messages.CooperativeStickyAssignorUserData, 0, data)

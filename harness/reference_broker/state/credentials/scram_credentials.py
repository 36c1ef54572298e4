"""SCRAM credentials of users, by user and mechanism. Only this file changes them.

Source: KIP-84, KIP-554, class ScramImage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.codec.messages import RemoveUserScramCredentialRecord, UserScramCredentialRecord

MOST_ITERATIONS = 16384


class ScramMechanism(IntEnum):
    """The mechanisms, with their numbers in messages and records."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def sasl_name(self) -> str:
        """The name in SaslHandshake."""
        return self.name.replace("_", "-")

    @property
    def digest(self) -> str:
        """The name of the hash."""
        return {1: "sha256", 2: "sha512"}[self.value]


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """The part of a password that a broker keeps: it checks a client, and cannot act as one."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int


class ScramCredentials:
    """All credentials."""

    __slots__ = ("_by_user",)

    def __init__(self) -> None:
        self._by_user: dict[str, dict[ScramMechanism, ScramCredential]] = {}

    def users(self) -> list[str]:
        """Return the users that have a credential."""
        return list(self._by_user)

    def of(self, user: str) -> Mapping[ScramMechanism, ScramCredential]:
        """Return the credentials of a user; empty for an unknown one."""
        return self._by_user.get(user, {})

    def put(self, record: UserScramCredentialRecord) -> None:
        """Add or replace a credential. A mechanism that is unknown here is left out."""
        if record.mechanism in list(ScramMechanism):
            self._by_user.setdefault(record.name, {})[ScramMechanism(record.mechanism)] = (
                ScramCredential(
                    bytes(record.salt),
                    bytes(record.stored_key),
                    bytes(record.server_key),
                    record.iterations,
                )
            )

    def remove(self, record: RemoveUserScramCredentialRecord) -> None:
        """Remove a credential, if it exists."""
        kept = self._by_user.get(record.name, {})
        kept.pop(ScramMechanism(record.mechanism), None)
        if not kept:
            self._by_user.pop(record.name, None)

"""Delegation tokens: a user's other way in, with an end. Only this file changes them.

Theory: a token is an id, and the secret that belongs to it is the HMAC of the id with a key that
every broker has. So brokers exchange the records of tokens, and no record has a secret.

| state | event | next |
|---|---|---|
| none | creation | valid, until the earlier of expiry time and end of life |
| valid | renewal by its owner or a renewer | valid: another expiry time, never behind the end |
| valid | expiry in the future | valid, as a renewal |
| valid | the time is behind the expiry time or the end of life | expired |
| valid, expired | expiry with a negative period | none |
| expired | renewal, or expiry in the future | expired: refused |
| expired | a round of the expiry check | none |

An expired token is still described, and a client with it still enters, for a session that ends at
once. Source: KIP-48, KIP-373, classes DelegationTokenControlManager and DelegationTokenCache.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.base.ids import TimeMs
    from harness.codec.messages import DelegationTokenRecord

KIND_OF_USERS = "User"


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """``max_life_ms``: the longest life; ``renewal_ms``: the time that a renewal adds."""

    max_life_ms: int
    renewal_ms: int


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """One token. Principals are texts as in ``User:alice``; all times are in ms since 1970.

    ``requester``: the principal that asked for it; ``owner``: the one that enters by it.
    """

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_at: int
    ends_at: int
    expires_at: int

    @classmethod
    def read(cls, record: DelegationTokenRecord) -> DelegationToken:
        """Return the token of a record."""
        return cls(
            record.token_id,
            record.owner,
            record.requester,
            tuple(record.renewers),
            record.issue_timestamp,
            record.max_timestamp,
            record.expiration_timestamp,
        )

    def as_record(self) -> DelegationTokenRecord:
        """Return the record that adds or changes this token."""
        # Not at the start: most brokers have no tokens.
        from harness.codec.messages import DelegationTokenRecord

        return DelegationTokenRecord(
            owner=self.owner,
            requester=self.requester,
            renewers=list(self.renewers),
            issue_timestamp=self.issued_at,
            max_timestamp=self.ends_at,
            expiration_timestamp=self.expires_at,
            token_id=self.token_id,
        )

    def belongs_to(self, principal: str) -> bool:
        """Return True for the owner and each renewer."""
        return principal == self.owner or principal in self.renewers

    def has_expired(self, now: TimeMs) -> bool:
        """Return True behind the expiry time; at that very time it is valid."""
        return self.ends_at < now or self.expires_at < now

    def expiring(self, at: int) -> DelegationToken:
        """Return the token with another expiry time, at most the end of its life."""
        return replace(self, expires_at=min(at, self.ends_at))


class DelegationTokens:
    """All tokens. Without a ``key`` the broker has none, and refuses to make one."""

    __slots__ = ("_by_id", "_by_secret", "_key", "limits")

    def __init__(self, key: bytes, limits: TokenLimits) -> None:
        self._key, self.limits = key, limits
        self._by_id: dict[str, DelegationToken] = {}
        self._by_secret: dict[bytes, str] = {}

    @property
    def is_enabled(self) -> bool:
        """True if the broker has a key."""
        return bool(self._key)

    def hmac_of(self, token_id: str) -> bytes:
        """Return the secret of a token (HmacSHA512)."""
        return hmac.digest(self._key, token_id.encode(), hashlib.sha512)

    def all(self) -> Iterable[DelegationToken]:
        """Return the tokens, also expired ones that no round has removed yet."""
        return self._by_id.values()

    def get(self, token_id: str) -> DelegationToken | None:
        """Return the token with this id."""
        return self._by_id.get(token_id)

    def with_hmac(self, secret: bytes) -> DelegationToken | None:
        """Return the token to which a secret belongs."""
        return self._by_id.get(self._by_secret.get(secret, ""))

    def expired(self, now: TimeMs) -> list[DelegationToken]:
        """Return the tokens that the next round removes."""
        return [token for token in self._by_id.values() if token.has_expired(now)]

    def put(self, record: DelegationTokenRecord) -> None:
        """Add or change a token."""
        self._by_id[record.token_id] = DelegationToken.read(record)
        if self._key:
            self._by_secret[self.hmac_of(record.token_id)] = record.token_id

    def remove(self, token_id: str) -> None:
        """Remove a token, if it exists."""
        if self._by_id.pop(token_id, None) is not None and self._key:
            del self._by_secret[self.hmac_of(token_id)]

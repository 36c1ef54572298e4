"""Secrets of TLS connections from a key log, as SSLKEYLOGFILE makes clients write it.

The format is that of NSS (draft-ietf-tls-keylogfile): a label, the client's random, a secret.
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.capture.errors import CaptureError, CryptographyMissing

_LINE = re.compile(r"([A-Z0-9_]+) ([0-9a-fA-F]{64}) ((?:[0-9a-fA-F]{2})+)")
TLS_1_2_LABEL = "CLIENT_RANDOM"

Secrets = dict[str, bytes]
"""Label -> secret, of one connection."""


class KeyLog:
    """The secrets of all connections in a file, by the client's random."""

    def __init__(self, text: str) -> None:
        self._by_random: dict[bytes, Secrets] = {}
        for line in text.splitlines():
            found = _LINE.fullmatch(line.strip())
            if found:
                label, random, secret = found.groups()
                secrets = self._by_random.setdefault(bytes.fromhex(random), {})
                secrets[label] = bytes.fromhex(secret)

    def __len__(self) -> int:
        return len(self._by_random)

    def secrets(self, client_random: bytes) -> Secrets | None:
        """Return the secrets of a connection; None if the file has none for it."""
        return self._by_random.get(client_random)


def read_key_log(file: Path) -> KeyLog:
    """Return the secrets of a file.

    Raises CaptureError if it cannot be read or has no secret, CryptographyMissing without the
    package that decrypts.
    """
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise CryptographyMissing from None
    try:
        found = KeyLog(file.read_text("ascii", errors="replace"))
    except OSError as error:
        raise CaptureError(f"cannot read {file}: {error.strerror or error}") from error
    if not len(found):
        raise CaptureError(
            f"{file} is no key log: no line has a label, a client random of 64 hexadecimal digits "
            "and a secret; let the client or broker write one with SSLKEYLOGFILE"
        )
    return found

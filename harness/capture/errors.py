"""Errors of a capture as a whole; damage inside it is reported, not raised."""

from __future__ import annotations

from harness.base.extras import install_line


class CaptureError(Exception):
    """A file that is no capture, or cannot be read; the text names the file and the reason."""


class ScapyMissing(CaptureError):
    """The optional package that reads captures is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"reading captures needs scapy, which is not installed: {install_line('capture')}"
        )


class CryptographyMissing(CaptureError):
    """The optional package that decrypts TLS is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"decrypting TLS needs cryptography, which is not installed: {install_line('capture')}"
        )

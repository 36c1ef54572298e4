"""Log files of both old forms, to be read and damaged."""

from __future__ import annotations

from harness.codec.records import message_set
from harness.historical import messages_0_7
from harness.historical.log_format import LogFormat


def entries_of(payloads: list[bytes], log_format: LogFormat) -> list[bytes]:
    """An entry for each payload, with magic 0 and 1 in turn."""
    if log_format is LogFormat.V0_7:
        return [
            messages_0_7.entry_bytes(messages_0_7.Message07(payload, magic=at % 2))
            for at, payload in enumerate(payloads)
        ]
    return [
        message_set.encode_message(message_set.LegacyMessage(payload, offset=at, magic=at % 2))
        for at, payload in enumerate(payloads)
    ]

"""Requirements that the newest Kafka no longer keeps: their defects are seen like an older one."""

from __future__ import annotations

ENDED_SEEN_ON = "reference,like=2.8.2"
"""A target that still keeps them all; ``tests.ci`` runs their rows on it."""

ENDED = {
    "LISTO-016": "message.format.version, which went with 4.0",
    "RECF-025": "message.downconversion.enable, which went with 4.0",
    "RECF-026": "message.format.version, which went with 4.0",
}
"""What each of them needs."""

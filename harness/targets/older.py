"""From which release another one is upgraded to, where a test wants to see both."""

from __future__ import annotations

from collections.abc import Collection

from harness.targets.kafka.release import release_key

STARTS = ("0.8.2.2", "0.10.2.2", "2.8.2", "3.6.2", "3.9.2")
"""Few, so that few have to be there; each may be followed by any that Kafka's documents let an
upgrade with a full stop go to."""


def older_than(release: str, among: Collection[str] = STARTS) -> str | None:
    """The newest of them that is older, with other versions of its requests; None without one.

    ``release``: empty for the newest of all.
    """
    older = [
        each
        for each in STARTS
        if each in among and (not release or release_key(each) < release_key(release))
    ]
    return older[-1] if older else None

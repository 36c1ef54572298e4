"""The mock cluster inside librdkafka as a process: it says where it listens and stays.

``python -m harness.targets.librdkafka_mock`` needs the package confluent-kafka, which carries
librdkafka (its setting ``test.mock.num.brokers``). ``--version`` prints librdkafka's version.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

START_TIMEOUT_S = 20
EXIT_USAGE = 2
EXIT_NO_LIBRDKAFKA = 3


def main(words: Sequence[str]) -> int:
    """Print ``listening on HOST:PORT`` and wait for a signal; returns the exit status."""
    try:
        import confluent_kafka
    except ImportError as problem:
        print(f"confluent-kafka is not installed ({problem}); pip install confluent-kafka")  # noqa: T201
        return EXIT_NO_LIBRDKAFKA
    if list(words) == ["--version"]:
        print(confluent_kafka.libversion()[0])  # noqa: T201
        return 0
    if words:
        print(f"unknown arguments {list(words)}; there is only --version")  # noqa: T201
        return EXIT_USAGE
    # the mock lives as long as the client that it belongs to
    client = confluent_kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "mock"})
    broker = next(iter(client.list_topics(timeout=START_TIMEOUT_S).brokers.values()))
    print(f"listening on {broker.host}:{broker.port}", flush=True)  # noqa: T201
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

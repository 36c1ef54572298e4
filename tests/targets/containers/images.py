"""The images of the tests, and the targets made of them."""

from __future__ import annotations

from pathlib import Path

from harness.targets.containers.options import read_options
from harness.targets.containers.target import DockerTarget

KAFKA_RELEASE = "4.4.0"
REFERENCE = "kafka-conformance-test/reference:1"
KAFKA = f"kafka-conformance-test/kafka:{KAFKA_RELEASE}"
BUILT = {REFERENCE: "reference", KAFKA: f"kafka:{KAFKA_RELEASE}"}

PLAIN = "kafka-conformance-test/plain:3"
# A foreign image: it does not know our variables and runs any command.
PLAIN_DOCKERFILE = f"""\
FROM {REFERENCE}
LABEL org.opencontainers.image.title="" org.opencontainers.image.version="" \
      kafka-conformance.capabilities=""
ENTRYPOINT []
""".encode()


def docker_target(rest: str, log_dir: Path, start_timeout_ms: int = 120_000) -> DockerTarget:
    return DockerTarget(read_options(rest), log_dir=log_dir, start_timeout_ms=start_timeout_ms)

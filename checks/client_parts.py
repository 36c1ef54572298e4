"""Parts at depth: pairs of a client of another project and a broker."""

from __future__ import annotations

from typing import Final

from checks.part import Lane, Part, command
from labs.defects.seen_on import KAFKA

WAITS = Lane.WAITS

CLIENT_PARTS: Final = (
    Part(
        "client_matrix",
        (
            command(
                *("kafka-conformance", "clients", "--client", "kafka-python", "--client"),
                *("confluent-kafka", "--client", "aiokafka", "--client", "java-4.4.0"),
                *("--client", "java-3.9.2", "--target", "reference", "--target", KAFKA),
                *("--target", "kafka:2.8.2", "--out", "{out}/client-matrix"),
            ),
            command("python", "-m", "labs.client_defects"),
            command(
                *("python", "-m", "labs.client_defects", "--target", KAFKA),
                *("--requirement", "CLIENT-027"),
            ),
        ),
        lane=WAITS,
        rooms=("harness/reference_broker", "harness/clients", "suites/clients"),
    ),
    Part(
        "client_matrix_go",
        (
            command(
                *("kafka-conformance", "clients", "--client", "franz-go", "--client", "sarama"),
                *("--client", "kafka-go", "--target", "reference", "--target", "kafka:2.8.2"),
                *("--out", "{out}/client-matrix-go"),
            ),
        ),
        lane=WAITS,
        needs="go",
        rooms=("harness/reference_broker", "harness/clients", "suites/clients"),
    ),
    Part(
        "client_matrix_node",
        (
            command(
                *("kafka-conformance", "clients", "--client", "kafkajs", "--target", "reference"),
                *("--target", "kafka:2.8.2", "--out", "{out}/client-matrix-node"),
            ),
        ),
        lane=WAITS,
        needs="npm",
        rooms=("harness/reference_broker", "harness/clients", "suites/clients"),
    ),
)

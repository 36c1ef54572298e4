"""The parts at depth that judge the histories of transactional clients."""

from __future__ import annotations

from checks.part import Lane, Part, command
from labs.defects.seen_on import KAFKA

WAITS = Lane.WAITS
ROOMS_OF_HISTORIES = (
    "harness/reference_broker",
    "harness/histories",
    "harness/proxies",
    "labs/transaction_histories",
)
HISTORY_PARTS = (
    Part(
        "transaction_histories",
        sliced=tuple(
            (
                command(
                    *("kafka-conformance", "lab", "transaction-histories", "--target", target),
                    *("--seed", "{seed}", "--runs", runs, "--faults", "8", "--client", client),
                    *("--out", "{out}/transaction-histories"),
                ),
            )
            for target, runs, client in (
                ("reference,nodes=3", "10", "own"),
                ("reference,like=2.8.2", "10", "own"),
                ("reference,nodes=3", "10", "confluent-kafka"),
                (KAFKA, "10", "own"),
                (f"{KAFKA},nodes=3", "8", "own"),
                (f"{KAFKA},nodes=3", "8", "confluent-kafka"),
                ("reference,nodes=3", "6", "kafka-python"),
                (f"{KAFKA},nodes=3", "6", "kafka-python"),
                ("reference,nodes=3", "6", "java"),
                (f"{KAFKA},nodes=3", "6", "java"),
                ("kafka:3.9.2", "8", "own"),
                ("kafka:2.8.2", "8", "own"),
            )
        ),
        seeds=10,
        lane=WAITS,
        rooms=ROOMS_OF_HISTORIES,
    ),
    Part(
        "fault_schedules",
        sliced=tuple(
            (
                command(
                    *("kafka-conformance", "lab", "fault-schedules", "--target", target),
                    *("--seeds", "{seed}..{last_seed}", "--out", "{out}/fault-schedules"),
                ),
            )
            for target in (*["reference,nodes=3"] * 3, *[f"{KAFKA},nodes=3"] * 2)
        ),
        seeds=40,
        lane=WAITS,
        rooms=ROOMS_OF_HISTORIES,
    ),
    Part(
        "streams",
        sliced=tuple(
            (
                command(
                    *("kafka-conformance", "lab", "streams", "--target", target),
                    *("--seed", "{seed}", "--runs", "10"),
                ),
            )
            for target in ("reference", "reference,nodes=3", KAFKA, f"{KAFKA},nodes=3")
        ),
        seeds=10,
        lane=WAITS,
        rooms=("harness/reference_broker", "labs/streams"),
    ),
    Part(
        "planted_bugs",
        (command("kafka-conformance", "lab", "planted-bugs", "--seed", "{seed}"),),
        lane=WAITS,
        rooms=(
            "harness/reference_broker/state",
            "harness/histories",
            "labs/transaction_histories",
        ),
    ),
)

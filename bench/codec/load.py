"""The cost of one message in a fresh interpreter: import, make, encode, decode."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from bench.codec.table import CodecResult, CodecTarget

TARGETS = [
    CodecTarget("import, first encode, first decode", "kafka-python", mean=1 / 0.35, least=1 / 0.35)
]
ROUNDS = 15
BARE = "pass"
USES = {
    "FetchRequest v12": {
        "ours": """
from harness.codec import decode, encode
from harness.codec.messages import FetchRequest
partition = FetchRequest.FetchPartition(partition=1, fetch_offset=7)
message = FetchRequest(topics=[FetchRequest.FetchTopic(topic="t", partitions=[partition])])
decode(FetchRequest, 12, encode(message, 12))
""",
        "kafka-python": """
from kafka.protocol.consumer.fetch import FetchRequest
topic = FetchRequest.FetchTopic
partition = topic.FetchPartition(version=12, partition=1, fetch_offset=7)
message = FetchRequest(version=12, topics=[topic(version=12, topic="t", partitions=[partition])])
FetchRequest.decode(message.encode(version=12), version=12)
""",
    },
    "MetadataResponse v12": {
        "ours": """
from harness.codec import decode, encode
from harness.codec.messages import MetadataResponse
broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="h", port=9092)
decode(MetadataResponse, 12, encode(MetadataResponse(brokers=[broker]), 12))
""",
        "kafka-python": """
from kafka.protocol.metadata import MetadataResponse
broker = MetadataResponse.MetadataResponseBroker(version=12, node_id=1, host="h", port=9092)
message = MetadataResponse(version=12, brokers=[broker])
MetadataResponse.decode(message.encode(version=12), version=12)
""",
    },
}


def results() -> Iterator[CodecResult]:
    """Every use against the peer's, and both against an interpreter that does nothing.

    Whole processes are timed, nothing is subtracted.
    """
    work = TARGETS[0].work
    for case, sides in USES.items():
        took = _medians_ms({"bare": BARE, **sides})
        yield CodecResult(
            work, case, "kafka-python", took["ours"] * 1e3, took["kafka-python"] * 1e3
        )
        yield CodecResult(work, case, "bare interpreter", took["ours"] * 1e3, took["bare"] * 1e3)


def _medians_ms(sides: dict[str, str]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for code in sides.values():
        _start_ms(code)  # bytecode is written, files are in memory
    order = list(sides)
    for _ in range(ROUNDS):
        for name in order:
            taken[name].append(_start_ms(sides[name]))
        order.append(order.pop(0))
    return {name: median(found) for name, found in taken.items()}


def _start_ms(code: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - began) * 1e3

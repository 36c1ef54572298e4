"""A folder with a segment of too large offsets: Kafka and our broker split it alike, and Kafka's
tool finds nothing wrong in the files of our broker.
"""

import shutil
from pathlib import Path

import pytest

from harness.targets.kafka.target import KafkaTarget
from harness.targets.target import Target
from tests.log_tools.planted import findings
from tests.reference_broker.storage.exchange import (
    ONLY_NODE,
    Served,
    exchanged,
    given_topics,
    kept,
    serves,
)
from tests.reference_broker.storage.overflowed import BASES, END, SPLIT, begins_in, write_segments
from tests.reference_broker.storage.test_exchange_dump import WRONG, dumped
from tests.reference_broker.storage.varied_topics import QUICK, create
from tests.targets import kinds

pytestmark = [pytest.mark.kafka, pytest.mark.rotates(20)]
KAFKA, TOPIC = "4.4.0", "far"


def split_by(target: Target, folder: Path, copy: Path) -> tuple[Served, dict[str, bytes]]:
    """The data that the target serves, and its logs; its folder is copied when it has ended."""
    create(target.addresses[0], {TOPIC: {"retention.ms": "-1"}})
    at = exchanged(target, given_topics(folder, TOPIC))
    served = serves(at, TOPIC)
    (own,) = target.log_directories(ONLY_NODE)
    target.stop_node(ONLY_NODE)
    shutil.copytree(own, copy)
    logs = (copy / f"{TOPIC}-0").glob("*.log")
    return served, {path.name: path.read_bytes() for path in sorted(logs)}


def test_segment_with_offset_overflow_is_split_as_by_kafka(tmp_path: Path) -> None:
    kinds.need_kafka(KAFKA)
    folder = tmp_path / "made"
    folder.mkdir()
    written = write_segments(folder / f"{TOPIC}-0")
    with KafkaTarget(KAFKA, settings=QUICK, log_dir=tmp_path) as kafka:
        theirs = split_by(kafka, folder, tmp_path / "theirs")
    with kept(settings=QUICK, log_dir=tmp_path) as ours:
        own = split_by(ours, folder, tmp_path / "ours")
    assert own == theirs
    served, logs = own
    assert (served.start, served.end, served.data) == (0, END, written)
    partition = tmp_path / "ours" / f"{TOPIC}-0"
    assert begins_in(partition) == SPLIT
    assert findings(tmp_path / "ours") == []
    text = dumped([partition / name for name in logs])
    assert text.count("isvalid: true") == len(BASES) + 1
    assert not [line for line in text.split("\n") if WRONG.search(line)]
    for kind in ("index", "timeindex"):
        indexes = sorted(partition.glob(f"*.{kind}"))
        assert len(indexes) == len(SPLIT)
        assert not WRONG.search(dumped(indexes, "--verify-index-only"))

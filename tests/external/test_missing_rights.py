"""A run as a user that lacks rights: what these cases need is named, and real failures stay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.base.address import Address
from harness.client.clear_relay import ClearWays
from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.record import CheckRecord
from harness.runner.faults import Faults, responses
from harness.security.doors import Door, close_door, door_at, open_door
from harness.security.reading import read_settings
from tests.external.limited_user import Limited, limited_user

METADATA = "protocol/metadata/test_metadata.py"
OF_ONE_TOPIC = (
    f"{METADATA}::test_metadata_forbidding_auto_creation_returns_unknown_topic_or_partition[v12]"
)
"""META-006: its check names a topic, and prepares nothing."""
OF_A_BATCH = (
    "protocol/produce/test_refused_batches.py"
    "::test_produce_with_flipped_bit_returns_corrupt_message[v9]"
)
"""PROD-011: it prepares a topic."""
OF_THE_CLUSTER = (
    "protocol/metadata/test_describe_cluster_and_partitions.py"
    "::test_describe_cluster_returns_cluster_id_and_brokers_of_metadata[v1]"
)
"""META-030: it needs no right."""
WITHOUT_RIGHTS = "security=sasl_ssl,mechanism=PLAIN,authorizer=on,set.super.users=User:broker"


@dataclass(frozen=True)
class Ended:
    """A run that has ended; ``said``: its result in JSON."""

    said: dict[str, Any]
    checks: dict[str, CheckRecord]


def judged(spec: str, out: Path, *cases: str) -> Ended:
    """Run these cases."""
    command = [sys.executable, "-m", "harness.cli", "run", "--json", "--target", spec]
    command += ["--out", str(out)]
    command += [word for case in cases for word in ("--case", case)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout, ended.stderr
    (journal,) = out.rglob(JOURNAL_NAME)
    checks = {check.requirement: check for check in read_journal(journal).checks}
    return Ended(json.loads(ended.stdout)["runs"][0], checks)


@contextmanager
def faulty_way(limited: Limited, folder: Path) -> Iterator[str]:
    """A PLAINTEXT way to the broker as the limited user, that closes for DescribeCluster."""
    at = limited.address
    usual = door_at(at)
    assert usual is not None
    close_door(usual)
    own = Door(read_settings(limited.file))
    open_door(own, [at])
    fault = responses("DescribeCluster").close()
    try:
        with ClearWays() as ways, Faults(ways.to(at), seed="missing rights").path(fault) as path:
            here = Address(*path.address)
            access = folder / "access.toml"
            access.write_text(f'[addresses]\n"{at}" = "{here}"\n')
            yield f"external:{here},profile={access}"
            path.expect_fired()
    finally:
        close_door(own)
        open_door(usual, [at])


@pytest.mark.rotates(4)
def test_a_missing_right_is_named_and_a_fault_of_the_broker_fails(tmp_path: Path) -> None:
    """In a check, in a preparation; the fault is in a case that needs no right."""
    with (
        limited_user("reference", [], tmp_path) as limited,
        faulty_way(limited, tmp_path) as spec,
    ):
        ended = judged(spec, tmp_path / "out", OF_ONE_TOPIC, OF_A_BATCH, OF_THE_CLUSTER)
    assert ended.said["requirements"] == {
        "META-006": "not_applicable",
        "META-030": "failed",
        "PROD-011": "not_applicable",
    }
    assert ended.said["exit"] == 1
    needed = {name: check.capability_missing for name, check in ended.checks.items()}
    assert needed == {
        "META-006": "a right of the user: DESCRIBE on topic kc-*",
        "META-030": None,
        "PROD-011": "a right of the user: CREATE on topic kc-*",
    }
    assert "expected UNKNOWN_TOPIC_OR_PARTITION" in ended.checks["META-006"].reason
    assert ended.said["missing_rights"] == [
        {"operation": "CREATE", "resource": "topic", "name": "kc-*", "cases": 1},
        {"operation": "DESCRIBE", "resource": "topic", "name": "kc-*", "cases": 1},
    ]


@pytest.mark.rotates(4)
def test_a_refusal_of_a_target_with_acls_of_the_run_is_a_failure(tmp_path: Path) -> None:
    ended = judged(f"reference,{WITHOUT_RIGHTS}", tmp_path / "out", OF_ONE_TOPIC)
    assert ended.said["requirements"] == {"META-006": "failed"}
    assert ended.said["missing_rights"] == []
    assert "TOPIC_AUTHORIZATION_FAILED" in ended.checks["META-006"].reason

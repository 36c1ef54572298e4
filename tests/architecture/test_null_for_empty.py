"""Suites take no null of a response for empty: a broker that sends the wrong one would pass."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from harness.oracle.null_forms import apis_with_nullable_fields, nullable_fields
from tests.parsed_source import parsed

ROOT = Path(__file__).resolve().parents[2]
NULLABLE = {
    path.rpartition(".")[2] for api in apis_with_nullable_fields() for path in nullable_fields(api)
}
"""Names of the nullable fields of responses."""

_CANDIDATE = re.compile(r"\bor\s+(b?\"\"|b?''|\(\)|\[\])")
KNOWN = {
    ("suites/durability/support/placed_transactions.py", "aborted_transactions"),
    ("suites/durability/support/transactions.py", "aborted_transactions"),
    ("suites/durability/test_recovery_rebuilds_files.py", "aborted_transactions"),
    ("suites/protocol/api_versions/test_api_versions.py", "cluster_id"),
    ("suites/protocol/api_versions/test_features.py", "value"),
    ("suites/protocol/configs/test_describe_configs.py", "value"),
    ("suites/protocol/encoding/test_non_flexible_types.py", "name"),
    ("suites/protocol/groups/test_assignment.py", "value"),
    ("suites/protocol/record_formats/test_message_sets.py", "value"),
    ("suites/protocol/support/quota_answers.py", "entries"),
    ("suites/replication/private/test_controller_failover.py", "entries"),
    ("suites/replication/support/eligible.py", "eligible_leader_replicas"),
    ("suites/replication/support/eligible.py", "last_known_elr"),
    ("suites/replication/test_follower_truncation.py", "aborted_transactions"),
}
"""Places that need no more than the content: ENC-015 judges null in these fields (a ``value`` is
of a record, or of a config that is never null). The list may only become shorter."""


def _nulls_for_empty(path: Path) -> Iterator[str]:
    """Yield the nullable fields that stand before ``or`` and an empty value."""
    text = path.read_text("utf-8")
    if not _CANDIDATE.search(text):
        return  # most files: parsing them all takes seconds
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            first, last = node.values[0], node.values[-1]
            if isinstance(first, ast.Attribute) and first.attr in NULLABLE and _is_empty(last):
                yield first.attr


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in ("", b"")
    return isinstance(node, ast.List | ast.Tuple) and not node.elts


def test_suites_take_null_for_empty_in_known_places_alone() -> None:
    files = sorted((ROOT / "suites").rglob("*.py"))
    found = {
        (str(path.relative_to(ROOT)), name) for path in files for name in _nulls_for_empty(path)
    }
    assert found == KNOWN


def test_null_for_empty_is_found_behind_any_expression(tmp_path: Path) -> None:
    path = tmp_path / "suite.py"
    path.write_text('a = f(x)[0].records or b""\nb = y.entries or ()\nc = y.entries or [1]\n')
    assert list(_nulls_for_empty(path)) == ["records", "entries"]

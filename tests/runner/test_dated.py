"""A broker that says to be an old release of Apache Kafka is judged by what that one promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)

BROKER = """
command = ["{python}", "-P", "-m", "harness.reference_broker", "--port", "{port}"]
implementation = "%s"
release = "%s"
[readiness]
address = "127.0.0.1:{port}"
"""
SUITE = """
@judges("TXN-014")
def test_since_4_0(broker):
    with requirement("TXN-014"):
        assert 1 == 2, "seen"

@judges("META-031")
def test_should_since_3_7(broker):
    with requirement("META-031"):
        assert 1 == 2, "seen"

@judges("FETCH-014")
def test_until_3_x(broker):
    with requirement("FETCH-014"):
        assert 1 == 2, "seen"

@judges("TXN-015")
def test_holds_before_its_date(broker):
    with requirement("TXN-015"):
        assert broker

@judges("TXN-016")
def test_loses_its_connection(broker):
    connection = broker.connect()
    connection.send_bytes(b"\\xff" * 4)
    connection.receive_frame()

@judges("G848-001")
def test_decides_nothing(broker):
    with requirement("G848-001"):
        raise Inconclusive("nobody knows")

@judges("G848-002")
def test_breaks(broker):
    with requirement("G848-002"):
        raise KeyError("ours")

@judges("CONN-001")
def test_always_promised(broker):
    with requirement("CONN-001"):
        assert 1 == 2, "seen"
"""
UNCHANGED = {
    "TXN-015": "passed",
    "G848-001": "inconclusive",
    "G848-002": "harness_error",
    "CONN-001": "failed",
}
AS_TODAY = {"TXN-014": "failed", "META-031": "warning", "FETCH-014": "failed",
            "TXN-016": "inconclusive"}  # fmt: skip
OLD = {"TXN-014": "not_supported", "META-031": "not_supported", "FETCH-014": "failed",
       "TXN-016": "not_supported"}  # fmt: skip
NEW = {**AS_TODAY, "FETCH-014": "not_supported"}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("implementation", "release", "wanted"),
    [
        ("Apache Kafka", "2.3.1", OLD),
        ("Apache Kafka", "4.0.2", NEW),
        ("Apache Kafka", "trunk", AS_TODAY),
        ("Another broker", "2.3.1", AS_TODAY),
    ],
)
def test_verdicts_follow_release_dates_of_requirements(
    tmp_path: Path, implementation: str, release: str, wanted: dict[str, str]
) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(BROKER % (implementation, release), "utf-8")
    ended = SmallSuite(tmp_path, f"command:{file}").write(SUITE).run()
    found = {name: verdict for (_, name), verdict in ended.verdicts().items()}
    assert found == {**UNCHANGED, **wanted}, ended.output


def test_not_supported_by_date_keeps_reason_and_evidence(
    tmp_path: Path,
) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(BROKER % ("Apache Kafka", "2.3.1"), "utf-8")
    suite = SmallSuite(tmp_path, f"command:{file}").write(SUITE)
    ended = suite.run("--requirement", "TXN-014")
    (record,) = ended.journal.checks
    assert record.reason.startswith("promised since 4.0; this is 2.3.1: seen")
    assert record.evidence is not None
    assert "not_supported: promised since 4.0" in (ended.run_dir / record.evidence).read_text()
    assert ended.code == 0  # pytest: nothing failed

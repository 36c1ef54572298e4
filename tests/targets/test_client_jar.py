"""The client library of a release alone."""

from pathlib import Path

import pytest

from harness.targets.artifacts import pinned_releases
from harness.targets.client_jar import fetch_client_jar, pinned_client_jars
from harness.targets.errors import TargetError


def test_client_jar_is_pinned_for_every_release_that_has_one() -> None:
    pins = pinned_client_jars()
    assert set(pinned_releases()) - set(pins) == {"0.8.0", "0.8.1", "0.8.1.1"}
    for release, pin in pins.items():
        assert (pin.artifact, pin.version, pin.classifier) == ("kafka-clients", release, None)
        assert pin.path.endswith(f"kafka-clients-{release}.jar")


def test_fetch_of_unpinned_client_jar_raises_target_error() -> None:
    with pytest.raises(TargetError, match=r"Kafka 1\.2\.3 is not pinned; pinned: 0\.8\.2\.0, "):
        fetch_client_jar("1.2.3")


def test_local_client_jar_with_wrong_checksum_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin = pinned_client_jars()["2.4.1"]
    wrong = tmp_path / "local" / pin.path
    wrong.parent.mkdir(parents=True)
    wrong.write_bytes(b"\0" * pin.size_bytes)
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_LOCAL", str(tmp_path / "local"))
    monkeypatch.setenv("KAFKA_CONFORMANCE_MAVEN_URL", "ftp://nowhere.invalid")
    with pytest.raises(
        TargetError, match=r"cannot download org\.apache\.kafka:kafka-clients:2\.4\.1"
    ):
        fetch_client_jar("2.4.1")

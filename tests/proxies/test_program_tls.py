"""``kafka-conformance proxy --end-tls`` from the outside, before a secured broker."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.client.connection import Connection
from harness.codec.messages import MetadataRequest
from harness.security.doors import Door, close_door, open_door
from harness.security.reading import read_settings
from harness.security.settings import Mechanism, SecurityProtocol
from harness.targets.reference import ReferenceBroker
from harness.targets.run_security import WantedSecurity
from tests.proxies.program import program, refused
from tests.proxies.test_program import SLOW

pytestmark = pytest.mark.rotates(8)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceBroker]:
    wanted = WantedSecurity(SecurityProtocol.SASL_SSL, Mechanism.SCRAM_SHA_512)
    folder = tmp_path_factory.mktemp("broker")
    with ReferenceBroker(log_dir=folder, security=wanted) as started:
        yield started


def file_of(target: ReferenceBroker) -> Path:
    assert target.secured is not None
    return Path(target.secured.file)


def trusting(target: ReferenceBroker, authority: Path, folder: Path) -> Door:
    """The way of a client with the password of the run, which trusts the proxy alone."""
    lines = file_of(target).read_text().splitlines()
    kept = [line for line in lines if line.startswith(("security.", "sasl."))]
    file = folder / "client.properties"
    file.write_text("\n".join([*kept, f"ssl.ca.location={authority}"]))
    return Door(read_settings(file))


def test_a_rule_strikes_clients_with_tls_and_sasl(target: ReferenceBroker, tmp_path: Path) -> None:
    rules, authority = tmp_path / "rules.toml", tmp_path / "ca.pem"
    rules.write_text(SLOW)
    with program(
        "--upstream", target.addresses[0], "--rules", rules,
        "--end-tls", authority, "--broker-config", file_of(target),
    ) as running:  # fmt: skip
        address = running.proxy_of(target.addresses[0])
        entered = trusting(target, authority, tmp_path)
        open_door(entered, [address])
        try:
            with Connection(address) as connection:
                answers = [connection.ask(MetadataRequest(topics=[]), 9) for _ in range(2)]
        finally:
            close_door(entered)
        assert [one.throttle_time_ms for one in answers] == [777, 0]
        assert running.signalled(signal.SIGTERM) == 0
    assert "PRIVATE KEY" not in authority.read_text()


def test_rules_without_the_option_name_it(target: ReferenceBroker, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(SLOW)
    with program("--upstream", target.addresses[0], "--rules", rules, "--no-rewrite") as running:
        address = running.proxy_of(target.addresses[0])
        entered = Door(read_settings(file_of(target)))
        open_door(entered, [address])
        try:
            with Connection(address) as connection:
                assert connection.ask(MetadataRequest(topics=[]), 9).throttle_time_ms == 0
        finally:
            close_door(entered)
        running.line("error .*rules see its frames only where TLS ends at the proxy .--end-tls")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--broker-config", "FILE"), 2, "--broker-config is for --end-tls"),
        (("--end-tls", "FOLDER/none/ca.pem"), 1, "cannot be written"),
        (("--end-tls", "FOLDER/ca.pem", "--broker-config", "FOLDER/none"), 1, "none"),
        (("--end-tls", "FOLDER/ca.pem", "--broker-config", "PLAIN"), 1, "SSL or SASL_SSL"),
    ],
)
def test_wrong_options_are_refused(
    words: tuple[str, ...], code: int, text: str, tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("security.protocol=PLAINTEXT\n")
    made = {"FOLDER": str(tmp_path), "PLAIN": str(tmp_path / "plain")}
    given = [
        word.replace("FOLDER", made["FOLDER"]).replace("PLAIN", made["PLAIN"]) for word in words
    ]
    found, said = refused("--upstream", "127.0.0.1:9", *given)
    assert (found, text in said) == (code, True), said

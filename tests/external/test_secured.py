"""A run against a secured listener: the same verdicts, and no secret in what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.security.authority import Authority
from harness.targets.ports import HOST
from harness.targets.reference import ReferenceBroker
from tests.client.secured_server import PASSWORD, USER, SecuredServer, running, tls
from tests.external.secured_kafka import (
    STORE_PASSWORD,
    SecuredKafka,
    Way,
    secured_kafka,
    with_certificate,
    with_password,
    with_unsecured_token,
)
from tests.targets import kinds

LOOK_S = 0.2
"""Between two looks at the processes of a run."""
VARIABLE = "KAFKA_CONFORMANCE_TEST_PASSWORD"
FEW = ("APIV-00[1-6]", "CONN-022", "META-005", "META-042")
"""Requests by a client, raw bytes, a proxy on the way, and the listed addresses."""
Verdicts = dict[tuple[str, str], str]


@dataclass(frozen=True)
class Ended:
    """A run that has ended."""

    exit_code: int
    verdicts: Verdicts
    said: bytes
    processes: str


def run(spec: str, out: Path, requirements: tuple[str, ...], **environment: str) -> Ended:
    """Run the command, and note the command lines of all its processes while it runs."""
    command = [sys.executable, "-m", "harness.cli", "run", "--target", spec, "--out", str(out)]
    for each in requirements:
        command += ["--requirement", each]
    log = out.parent / f"{out.name}.log"
    seen: set[str] = set()
    with log.open("wb") as file:
        child = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env={**os.environ, **environment}
        )
        while child.poll() is None:
            seen |= set(_command_lines(child.pid))
            with suppress(subprocess.TimeoutExpired):
                child.wait(LOOK_S)
    journals = list(out.rglob(JOURNAL_NAME))
    verdicts = _verdicts(journals[0]) if journals else {}
    return Ended(child.returncode, verdicts, log.read_bytes(), "\n".join(sorted(seen)))


def _command_lines(pid: int) -> Iterator[str]:
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in family:
        try:
            yield " ".join(process.cmdline())
        except psutil.Error:
            continue


def _verdicts(journal: Path) -> Verdicts:
    """By requirement and case; a check of several subtests has all of its verdicts."""
    found: dict[tuple[str, str], set[str]] = {}
    for check in read_journal(journal).checks:
        found.setdefault((check.requirement, check.case), set()).add(check.verdict.value)
    return {key: ",".join(sorted(values)) for key, values in found.items()}


def without_sasl(verdicts: Verdicts) -> Verdicts:
    """Without the cases of the APIs that are not sent behind SASL."""
    return {key: verdict for key, verdict in verdicts.items() if "sasl" not in key[1].lower()}


@dataclass(frozen=True)
class Front:
    """The built-in broker behind a listener with TLS and SASL."""

    server: SecuredServer
    folder: Path

    @property
    def spec(self) -> str:
        files = f"profile={self.folder / 'access.toml'},config={self.folder / 'client.properties'}"
        return f"external:{HOST}:{self.server.port},{files}"

    def write(self, mechanism: str, password: str) -> None:
        (self.folder / "client.properties").write_text(
            "security.protocol=SASL_SSL\nssl.ca.location=ca.pem\n"
            f"sasl.mechanism={mechanism}\nsasl.username={USER}\nsasl.password={password}\n"
        )


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder, authority = tmp_path_factory.mktemp("front"), Authority()
    authority.write_pem(folder / "ca.pem")
    context = tls(authority.sign("server"), folder)
    server = SecuredServer(context, mechanisms=("PLAIN", "SCRAM-SHA-512"))
    with ReferenceBroker(log_dir=folder) as broker:
        server.behind = broker.addresses[0]
        with running(server):
            listed = f'"{broker.addresses[0]}" = "{HOST}:{server.port}"'
            (folder / "access.toml").write_text(f"[addresses]\n{listed}\n")
            yield Front(server, folder)


@pytest.mark.rotates(8)  # a run of the suites behind TLS
def test_a_run_leaves_no_secret(front: Front, tmp_path: Path) -> None:
    """The password comes from the environment, the certificates from the file."""
    front.write("SCRAM-SHA-512", f"${{env:{VARIABLE}}}")
    out = tmp_path / "out"
    ended = run(front.spec, out, FEW, **{VARIABLE: PASSWORD})
    assert ended.exit_code == 0, ended.said.decode()[-2000:]
    assert set(ended.verdicts.values()) <= {"passed", "not_supported", "not_applicable"}
    assert "passed" in ended.verdicts.values()
    assert "config=" in ended.processes
    assert PASSWORD not in ended.processes
    assert PASSWORD.encode() not in ended.said
    files = [path for path in out.rglob("*") if path.is_file()]
    assert any(path.name == JOURNAL_NAME for path in files)
    assert not [path for path in files if PASSWORD.encode() in path.read_bytes()]


def test_a_wrong_password_ends_a_run_with_the_remedy(front: Front, tmp_path: Path) -> None:
    front.write("PLAIN", "wrong-SECRET")
    ended = run(front.spec, tmp_path / "out", FEW)
    assert ended.exit_code == 3
    assert b"SASL_AUTHENTICATION_FAILED" in ended.said
    assert b"Correct the user name, the password or the token" in ended.said.replace(b"\n", b" ")
    assert b"wrong-SECRET" not in ended.said
    left = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not [path for path in left if b"wrong-SECRET" in path.read_bytes()]


def test_a_file_with_an_unknown_setting_is_wrong_usage(front: Front, tmp_path: Path) -> None:
    (front.folder / "client.properties").write_text("\nsasl.pasword=marked-SECRET\n")
    ended = run(front.spec, tmp_path / "out", FEW)
    assert ended.exit_code == 2
    assert b"client.properties:2: sasl.pasword" in ended.said.replace(b"\n", b"")
    assert b"marked-SECRET" not in ended.said


@contextmanager
def a_kafka(release: str, folder: Path) -> Iterator[tuple[SecuredKafka, Mapping[str, str]]]:
    """The broker, and a target string for each way in."""
    (folder / "logs").mkdir()
    with secured_kafka(release, folder) as kafka:
        ways = {
            "SCRAM-SHA-256": (Way.SASL, with_password("SCRAM-SHA-256")),
            "SCRAM-SHA-512": (Way.UNENCRYPTED, with_password("SCRAM-SHA-512")),
            "PLAIN": (Way.SASL, with_password("PLAIN")),
            "OAUTHBEARER": (Way.SASL, with_unsecured_token()),
            "mTLS": (Way.MUTUAL, with_certificate(kafka)),
        }
        yield (
            kafka,
            {
                name: kafka.secured(way, lines, f"{name}.properties")
                for name, (way, lines) in ways.items()
            },
        )


@pytest.mark.kafka
@pytest.mark.deep
@pytest.mark.parametrize("release", ["4.4.0", "2.8.2"])
def test_each_way_in_gives_the_verdicts_of_plaintext(release: str, tmp_path: Path) -> None:
    kinds.need_kafka()
    with a_kafka(release, tmp_path) as (kafka, ways):
        plain = run(kafka.plain(), tmp_path / "plain", FEW)
        assert plain.verdicts
        for name, spec in ways.items():
            secured = run(spec, tmp_path / name, FEW)
            assert secured.exit_code == plain.exit_code, (name, secured.said.decode()[-2000:])
            assert without_sasl(secured.verdicts) == without_sasl(plain.verdicts), name
            assert STORE_PASSWORD.encode() not in secured.said
            files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
            for secret in (STORE_PASSWORD, PASSWORD):
                assert not [path for path in files if secret.encode() in path.read_bytes()]

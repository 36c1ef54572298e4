"""Clients for Go and JavaScript: their releases, and what is missing on a machine without them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.clients.known import UnknownClient, parse_client
from harness.clients.programs import PROGRAMS
from harness.clients.vocabulary import ClientLacks
from harness.targets.obtain import ObtainError


@pytest.mark.parametrize("name", PROGRAMS)
def test_release_of_a_program_has_a_client_file(name: str) -> None:
    client = parse_client(name)
    assert client.versions is not None
    assert client.versions.name == f"{PROGRAMS[name].file}-{client.release}"
    assert parse_client(f"{name}-{client.release}").label == client.label


def test_other_release_of_a_program_is_unknown() -> None:
    with pytest.raises(UnknownClient, match=r"sarama 0\.9 is not the release that its driver has"):
        parse_client("sarama-0.9")


@pytest.mark.parametrize(("name", "said"), [("sarama", "install Go"), ("kafkajs", "install Node")])
def test_missing_language_is_named(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_CONFORMANCE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ObtainError, match=said):
        parse_client(name).prepare()


@pytest.mark.skipif(shutil.which("npm") is None, reason="not run: there is no npm")
def test_script_of_kafkajs_answers_an_unknown_call(tmp_path: Path) -> None:
    client = parse_client("kafkajs")
    client.prepare()
    with client.start("127.0.0.1:1", tmp_path / "log", 30.0) as session:
        with pytest.raises(ClientLacks, match="no call jump"):
            session.call("jump")

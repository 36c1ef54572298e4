"""The shipped client files are those of the table of clients, and of their source texts."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from harness.negotiation.client_file import find_client, known_clients
from harness.targets.errors import TargetError
from labs.client_versions.__main__ import main
from labs.client_versions.client_toml import NOT_WRITTEN
from labs.client_versions.clients import CLIENTS, PinnedClient
from tests.targets.kinds import not_run

READ_BY_HAND = {"librdkafka-2.16.0"}
"""No registry has its source text; tests/negotiation/test_librdkafka.py compares its requests."""


@pytest.mark.parametrize("client", CLIENTS.values(), ids=list(CLIENTS))
def test_pinned_client_has_a_file_with_its_source_and_features(client: PinnedClient) -> None:
    found = find_client(f"{client.name}-{client.release}")
    assert found.source == client.source
    assert found.read_on is not None
    assert found.without_api_versions != NOT_WRITTEN
    assert found.features


def test_every_client_file_is_made_by_the_command_or_read_by_hand() -> None:
    made = {f"{one.name}-{one.release}" for one in CLIENTS.values()}
    assert set(known_clients()) == made | READ_BY_HAND


@pytest.mark.deep
@pytest.mark.parametrize("name", CLIENTS)
def test_source_text_has_the_versions_of_the_file(name: str) -> None:
    client = CLIENTS[name]
    try:
        versions = client.versions()
    except TargetError as problem:
        not_run(f"{name}: {problem}")
    assert versions == find_client(f"{name}-{client.release}").versions


def test_unknown_client_is_a_usage_error_that_names_the_known_ones() -> None:
    done = CliRunner().invoke(main, ["kafkajs", "kafkajz"])
    assert done.exit_code == 2
    assert "no client 'kafkajz'; known: kafka-clients, librdkafka" in done.output

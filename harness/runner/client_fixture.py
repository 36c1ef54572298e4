"""The fixture ``client``, by the mark ``client_needs``: a plugin of the runs with ``--client``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.grants import CREATE_TOPICS
from harness.clients.calls import ClientFailed
from harness.clients.session import ClientSession
from harness.clients.vocabulary import ClientLacks
from harness.conformance.outcome import NotApplicable, register_missing_capability
from harness.runner.asked_clients import (
    ASKED,
    CLIENT,
    ClientUnderTest,
    asked_clients,
)
from harness.runner.running_case import CASE


def pytest_configure() -> None:
    register_missing_capability(ClientLacks)


@pytest.fixture
def client(request: pytest.FixtureRequest, broker: BrokerUnderTest) -> Iterator[ClientUnderTest]:
    """The client of ``--client``, at the broker of the run."""
    case, asked = request.node.stash[CASE], asked_clients(request.config)
    asked.require_own_success(case.case)
    mark = request.node.get_closest_marker("client_needs")
    asked.require_versions(mark.args[0] if mark else {}, broker)
    if not broker.grants.create_topics:
        raise NotApplicable(CREATE_TOPICS, "clients create topics, and the target allows none")
    if case.context.info.secured is not None:
        raise NotApplicable(CLIENT, "clients get addresses alone, and the listener is secured")
    addresses = ",".join(map(str, broker.addresses))
    folder, scale = case.context.run_dir / "clients", case.context.info.time_scale
    with ExitStack() as stack:

        def start(at: str) -> ClientSession:
            made = asked.start(at, folder, scale)
            stack.push(made.__exit__)
            return made

        made = ClientUnderTest(asked.known, broker, asked.session(addresses, folder, scale), start)
        try:
            yield made
        finally:
            _delete(made)
            asked.note_end()


def _delete(made: ClientUnderTest) -> None:
    """By the harness where it may delete, else by the client."""
    if made.broker.grants.everything:
        made.broker.delete_later(*made.topics)
        for name in made.topics:
            made.broker.delete_group_later(name)
        return
    for name in made.topics if not made.calls.is_gone else ():
        try:
            made.calls.delete_topic(name)
        except (ClientFailed, ClientLacks):
            continue  # it was not created, or is deleted already


def pytest_unconfigure(config: pytest.Config) -> None:
    if asked := config.stash.get(ASKED, None):
        del config.stash[ASKED]
        asked.close()

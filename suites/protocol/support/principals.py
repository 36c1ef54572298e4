"""Users that a test adds for itself: principals that have no right at first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import SCRAM, Credentials, credentials_at, scram_password
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterUserScramCredentialsRequest
from harness.codec.structs import Message, Request
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import credentials_of, enter, shake_hands, unauthenticated

M = TypeVar("M", bound=Message)
MECHANISM, NUMBER = SCRAM[0], 1
ANONYMOUS = "ANONYMOUS"
"""The user of a connection without authentication."""
ITERATIONS = 4096
"""The least that a broker accepts."""
PASSWORD, SALT = "of-an-ordinary-user", b"salt of a test"
Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion


class Principal:
    """A user with a connection of its own."""

    def __init__(self, broker: BrokerUnderTest, name: str, connection: Connection) -> None:
        self.name = name
        """Of the user, without its kind."""
        self.connection = connection
        self._broker = broker

    @property
    def principal(self) -> str:
        """The name in ACLs."""
        return f"User:{self.name}"

    def ask(self, message: Request[M], version: int) -> M:
        """Return the answer that this user gets."""
        return self.connection.ask(message, version)


def user_of_run(broker: BrokerUnderTest) -> str:
    """Return the user as which the run enters, without its kind."""
    found = credentials_at(broker.address)
    return ANONYMOUS if found is None else found.user


@contextmanager
def connection_of(broker: BrokerUnderTest, user: Principal, client_id: str) -> Iterator[Connection]:
    """Enter as a user of the test with a client id, and close at the end."""
    own = credentials_of(broker, MECHANISM).of(user.name, PASSWORD)
    with broker.connect(client_id, authenticates=False) as connection:
        shake_hands(connection, MECHANISM)
        answer = enter(connection, own, MECHANISM, broker.version("SaslAuthenticate"))
        expect_error(answer.error_code, ErrorCode.NONE, f"the user {user.name}")
        yield connection


@contextmanager
def ordinary_user(
    broker: BrokerUnderTest, controller: BrokerUnderTest | None = None
) -> Iterator[Principal]:
    """Add a user, enter as it, and remove it at the end (KIP-554).

    ``controller``: adds and removes it, in a cluster where brokers forward nothing. Raises
    NotApplicable without SASL, and where the listener has no SCRAM.
    """
    credentials = credentials_of(broker, MECHANISM)
    name = broker.unique_topic()
    salted = scram_password(MECHANISM, PASSWORD, SALT, ITERATIONS)
    added = Upsertion(
        name=name, mechanism=NUMBER, iterations=ITERATIONS, salt=SALT, salted_password=salted
    )
    changes = controller or broker
    _alter(changes, AlterUserScramCredentialsRequest(deletions=[], upsertions=[added]))
    try:
        own = credentials.of(name, PASSWORD)
        connection = broker.eventually(lambda: _entered(broker, own), f"the new user {name} enters")
        yield Principal(broker, name, connection)
        connection.close()
    finally:
        gone = Deletion(name=name, mechanism=NUMBER)
        _alter(changes, AlterUserScramCredentialsRequest(deletions=[gone], upsertions=[]))


def _alter(broker: BrokerUnderTest, request: AlterUserScramCredentialsRequest) -> None:
    for result in broker.ask(request, 0).results:
        expect_error(result.error_code, ErrorCode.NONE, "AlterUserScramCredentials")


def _entered(broker: BrokerUnderTest, credentials: Credentials) -> Connection | None:
    """Return a connection of this user; None while the broker does not know it."""
    connection = unauthenticated(broker)
    shake_hands(connection, MECHANISM)
    answer = enter(connection, credentials, MECHANISM, broker.version("SaslAuthenticate"))
    if answer.error_code == ErrorCode.NONE:
        return connection
    connection.close()
    return None

"""The SCRAM credential of a password that the broker itself knows."""

import secrets

from harness.reference_broker.state.credentials.scram_credentials import (
    ScramCredential,
    ScramMechanism,
)
from harness.security.scram_keys import client_key, salted_password, server_key, stored_key

_SALT_BYTES = 24


def new_credential(mechanism: ScramMechanism, password: str, iterations: int) -> ScramCredential:
    """Return a credential with a new salt."""
    digest, salt = mechanism.digest, secrets.token_bytes(_SALT_BYTES)
    salted = salted_password(digest, password, salt, iterations)
    return ScramCredential(
        salt, stored_key(digest, client_key(digest, salted)), server_key(digest, salted), iterations
    )

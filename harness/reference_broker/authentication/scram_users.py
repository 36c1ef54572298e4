"""Users with a SCRAM credential from the start on, as `kafka-storage format --add-scram` has them.

The form is ``SCRAM-SHA-256=[name=alice,password=...,iterations=8192]`` (KIP-900). The password may
be ``${env:NAME}``.
"""

import re

from harness.codec.messages import UserScramCredentialRecord
from harness.reference_broker.authentication.new_credential import new_credential
from harness.reference_broker.authentication.secret_values import revealed
from harness.reference_broker.settings import SettingError
from harness.reference_broker.state.credentials.scram_credentials import (
    MOST_ITERATIONS,
    ScramMechanism,
)
from harness.security.scram_keys import LEAST_ITERATIONS

OPTION = "--add-scram"
_FORM = re.compile(r"(?P<mechanism>[^=]+)=\[(?P<pairs>.*)\]", re.DOTALL)
_KEYS = frozenset({"name", "password", "iterations"})


def scram_records(users: tuple[str, ...]) -> list[UserScramCredentialRecord]:
    """Return the records of the users of a new cluster. Raises SettingError, without a secret."""
    return [_record(text) for text in users]


def _record(text: str) -> UserScramCredentialRecord:
    found = _FORM.fullmatch(text)
    known = {each.sasl_name: each for each in ScramMechanism}
    if found is None or found["mechanism"] not in known:
        raise _wrong()
    given = dict(pair.partition("=")[::2] for pair in found["pairs"].split(","))
    if not {"name", "password"} <= given.keys() <= _KEYS or not given["name"]:
        raise _wrong()
    mechanism = known[found["mechanism"]]
    iterations = _iterations(given.get("iterations", str(LEAST_ITERATIONS)))
    password = revealed(given["password"], OPTION).reveal()
    made = new_credential(mechanism, password, iterations)
    return UserScramCredentialRecord(
        name=given["name"],
        mechanism=mechanism,
        salt=made.salt,
        stored_key=made.stored_key,
        server_key=made.server_key,
        iterations=made.iterations,
    )


def _iterations(text: str) -> int:
    if not text.isdecimal() or not LEAST_ITERATIONS <= int(text) <= MOST_ITERATIONS:
        raise SettingError(f"{OPTION}: {LEAST_ITERATIONS} to {MOST_ITERATIONS} iterations")
    return int(text)


def _wrong() -> SettingError:
    mechanisms = " or ".join(each.sasl_name for each in ScramMechanism)
    return SettingError(
        f"{OPTION} is written MECHANISM=[name=USER,password=...], with {mechanisms}"
    )

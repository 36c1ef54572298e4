"""From what a target grants to what may be sent to it."""

from __future__ import annotations

from harness.client.grants import Grants
from harness.codec.apis import APIS
from harness.conformance.harmless_requests import Safety
from harness.sweep.requests import safety_of
from harness.targets.info import TargetInfo
from harness.targets.target import CREATE_TOPICS, OWN_BROKER

_NEEDED = {
    Safety.READ: "read requests",
    Safety.OWN_NAMES: "own-names requests",
    Safety.DESTRUCTIVE: OWN_BROKER,
}
"""What a target lacks that does not take requests of this class."""


def grants_of(info: TargetInfo) -> Grants:
    """The API keys that the target's safety classes leave out, and whether topics may be made."""
    refused = {
        api.key: _NEEDED[safety_of(api.name)]
        for api in APIS.values()
        if safety_of(api.name) not in info.safety
    }
    return Grants(refused, CREATE_TOPICS in info.capabilities)

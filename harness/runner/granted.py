"""The requests that may be sent to a target, by the safety classes that it grants."""

from __future__ import annotations

from harness.client.grants import Grants
from harness.codec.apis import APIS, api_named
from harness.conformance.harmless_requests import Safety
from harness.sweep.requests import safety_of
from harness.targets.info import TargetInfo
from harness.targets.target import CREATE_TOPICS, OWN_BROKER

_NEEDED = {
    Safety.READ: "read requests",
    Safety.OWN_NAMES: "own-names requests",
    Safety.DESTRUCTIVE: OWN_BROKER,
}
"""The capability that a target lacks if it does not take requests of this class."""


NO_SASL = "a listener without SASL"
_AUTHENTICATION = (api_named("SaslHandshake").key, api_named("SaslAuthenticate").key)
"""Behind SASL they begin another authentication (KIP-368): the connection serves nothing else."""


def grants_of(info: TargetInfo) -> Grants:
    """Return the API keys that the safety classes refuse, and whether topics may be made."""
    refused = {
        api.key: _NEEDED[safety_of(api.name)]
        for api in APIS.values()
        if safety_of(api.name) not in info.safety
    }
    if info.secured is not None and info.secured.protocol.has_sasl:
        refused |= dict.fromkeys(_AUTHENTICATION, NO_SASL)
    return Grants(refused, CREATE_TOPICS in info.capabilities)

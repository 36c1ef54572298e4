"""A client's properties file, as ``--command-config`` of Kafka's tools, becomes settings.

Relative paths begin in the file's folder. A value may contain ``${env:NAME}``, as Kafka's
EnvVarConfigProvider writes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.security.property_values import PropertyValues
from harness.security.reading_sasl import OF_PASSWORDS, read_sasl
from harness.security.reading_tls import OF_JUDGES, read_tls
from harness.security.settings import SecurityProtocol, SecuritySettings

PROTOCOL = "security.protocol"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"


def read_settings(path: Path, environment: Mapping[str, str] | None = None) -> SecuritySettings:
    """Read and check a file. Raises SecurityError: file, line, setting and problem, no secret."""
    path = path.absolute()
    values = PropertyValues(path, os.environ if environment is None else environment)
    protocol = values.one_of(PROTOCOL, SecurityProtocol, SecurityProtocol.PLAINTEXT)
    if not protocol.has_sasl:
        for beginning in ("sasl.", *OF_PASSWORDS):
            _refuse(values, beginning, protocol, "no SASL")
    if not protocol.has_tls and not values.get(ENDPOINT):
        for beginning in ("ssl.", *OF_JUDGES):
            _refuse(values, beginning, protocol, "no TLS")
    tls = read_tls(values)
    return SecuritySettings(
        protocol,
        tls=tls if protocol.has_tls else None,
        sasl=read_sasl(values, tls) if protocol.has_sasl else None,
        file=path,
    )


def _refuse(values: PropertyValues, beginning: str, protocol: SecurityProtocol, lack: str) -> None:
    """Raises SecurityError for the first setting of a kind that the protocol has not."""
    for key in values.read_keys():
        if key.startswith(beginning):
            raise values.fail(key, f"contradicts {PROTOCOL}={protocol}, which has {lack}")

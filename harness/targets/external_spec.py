"""The target string ``external:HOST:PORT[,HOST:PORT...][,profile=FILE][,config=FILE]``."""

from __future__ import annotations

from pathlib import Path

from harness.targets.access_file import read_access_file
from harness.targets.address import parse_address
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.kind import Making, TargetKind
from harness.targets.options import split_options
from harness.targets.secured_cluster import SecuredCluster

OPTIONS = {
    "profile": "a TOML file with what the cluster allows, see docs/external.md",
    "config": "a properties file of a Kafka client with security.protocol, TLS and SASL settings",
}


def _make(rest: str | None, making: Making) -> ExternalBroker:
    words, options = split_options(rest or "", OPTIONS)
    if not any(words):
        raise TargetError("an address is missing: HOST:PORT, several separated by commas")
    access = read_access_file(Path(options["profile"])) if "profile" in options else None
    secured = SecuredCluster(Path(options["config"])) if "config" in options else None
    addresses = [parse_address(word) for word in words]
    return ExternalBroker(addresses, access=access, secured=secured, log_dir=making.log_dir)


KIND = TargetKind(
    name="external",
    form="external:HOST:PORT[,HOST:PORT...][,profile=FILE][,config=FILE]",
    example="external:127.0.0.1:9092",
    meaning="a broker or cluster that runs already (IPv6 in brackets)",
    capabilities=ExternalBroker.capabilities,
    make=_make,
    options=OPTIONS,
)

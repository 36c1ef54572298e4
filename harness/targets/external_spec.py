"""The target string ``external:HOST:PORT[,HOST:PORT...][,profile=FILE]``."""

from __future__ import annotations

from pathlib import Path

from harness.targets.access_file import read_access_file
from harness.targets.address import parse_address
from harness.targets.errors import TargetError
from harness.targets.external import ExternalBroker
from harness.targets.options import split_options

FORM = "external:HOST:PORT[,HOST:PORT...][,profile=FILE]"
OPTIONS = {"profile": "a TOML file that tells what the cluster lets us do, see docs/external.md"}


def external_target(rest: str | None, log_dir: Path | None) -> ExternalBroker:
    """What follows the colon, as a target. Raises TargetError."""
    words, options = split_options(rest or "", OPTIONS)
    if not any(words):
        raise TargetError("an address is missing: HOST:PORT, several separated by commas")
    access = read_access_file(Path(options["profile"])) if options else None
    addresses = [parse_address(word) for word in words]
    return ExternalBroker(addresses, access=access, log_dir=log_dir)

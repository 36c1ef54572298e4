"""The options of ``kafka-conformance proxy`` by which TLS ends at its proxies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from harness.commands.proxy_addresses import ANY_HOST
from harness.proxies.tls_ends import TlsEnds
from harness.proxies.upstream import Upstream
from harness.targets.errors import TargetError


def tls_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--end-tls`` and ``--broker-config``."""
    file = click.Path(path_type=Path)
    of_brokers = click.option(
        "--broker-config", type=file, metavar="FILE",
        help="With --end-tls, the properties file of a client of the brokers: its ssl. settings. "
        "Without, the authorities of this machine are trusted.")  # fmt: skip
    of_clients = click.option(
        "--end-tls",
        type=file,
        metavar="CA.pem",
        help="End the TLS of clients and begin it anew to the brokers, so that rules see frames. "
        "The certificate of the authority is written here, for truststores of clients.",
    )
    return of_clients(of_brokers(command))


def tls_ends(
    authority: Path | None, brokers: Path | None, upstreams: Iterable[Upstream], advertise: str
) -> TlsEnds | None:
    """Read the options. Raises UsageError, ClickException."""
    if authority is None:
        if brokers is not None:
            raise click.UsageError("--broker-config is for --end-tls")
        return None
    from harness.targets.tls_at_proxies import end_tls

    hosts = (advertise, *(one.listen.host for one in upstreams))
    try:
        return end_tls(authority, (host for host in hosts if host not in ANY_HOST), brokers)
    except TargetError as problem:
        raise click.ClickException(str(problem)) from problem

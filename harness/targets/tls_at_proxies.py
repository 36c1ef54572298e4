"""TLS that ends at proxies: certificates for their listeners, and the way into the brokers."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path

from harness.base.extras import install_line
from harness.proxies.tls_ends import TlsEnds
from harness.security.contexts import listener_context, new_context
from harness.security.errors import SecurityError
from harness.security.reading import read_settings
from harness.security.settings import KeyStore, StoreType, TlsSettings, TrustStore
from harness.targets.errors import TargetError
from harness.targets.run_security import BROKER_CERTIFICATE
from harness.targets.target import Target

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")
LIFE = datetime.timedelta(days=365)
NAME = "kafka-conformance proxy"


def end_tls(authority: Path, hosts: Iterable[str], brokers: Path | None = None) -> TlsEnds:
    """Make an authority, write its certificate to a file for truststores, and sign for ``hosts``.

    The key of the authority is never written, and another start has another authority. ``brokers``:
    the properties file of a client of the brokers, of which the ``ssl.`` settings are used and
    those of SASL are not; without it the authorities of this machine are trusted. Raises
    TargetError.
    """
    try:
        from harness.security.authority import Authority
    except ImportError:
        raise TargetError(
            "an end of TLS at a proxy needs cryptography, which is not installed: "
            f"{install_line('security')}"
        ) from None
    to_brokers = _settings_of(brokers)
    signer = Authority(f"authority of {NAME}", LIFE)
    signed = signer.sign(NAME, tuple(dict.fromkeys((*LOCAL_HOSTS, *hosts))))
    try:
        signer.write_pem(authority)
        context = listener_context(signed.key_pem() + signed.certificate_pem)
        return TlsEnds(context, new_context(to_brokers, brokers))
    except OSError as problem:
        raise TargetError(f"{authority}: it cannot be written: {problem.strerror}") from problem
    except SecurityError as problem:
        raise TargetError(str(problem)) from problem


def ends_of(target: Target, authority: Path) -> TlsEnds:
    """Return the ends for proxies before a started target. Raises TargetError: it has no TLS."""
    way = target.secured
    if way is None or not way.protocol.has_tls:
        raise TargetError(f"{target.spec} has no TLS that could end at a proxy")
    return end_tls(authority, (), Path(way.file))


def ends_between(folder: Path, shown: str) -> TlsEnds:
    """Return the ends for links of a cluster with the certificates of a run in this folder.

    The proxies have the certificate of the brokers. ``shown``: the file of the one by which they
    enter the broker behind: a listener that wants certificates knows their clients by it.
    """
    trust = TrustStore(StoreType.PEM, folder / "ca.pem")
    own = KeyStore(StoreType.PEM, folder / shown)
    context = listener_context((folder / BROKER_CERTIFICATE).read_text("utf-8"))
    return TlsEnds(context, new_context(TlsSettings(trust=trust, own=own)))


def _settings_of(brokers: Path | None) -> TlsSettings:
    if brokers is None:
        return TlsSettings()
    try:
        tls = read_settings(brokers).tls
    except SecurityError as problem:
        raise TargetError(str(problem)) from problem
    if tls is None:
        raise TargetError(f"{brokers}: security.protocol must be SSL or SASL_SSL")
    return tls

"""The TLS context of a listener from Kafka's settings. Stores are PEM files (KIP-651)."""

import ssl

from harness.reference_broker.authentication.cipher_suites import choose_ciphers
from harness.reference_broker.authentication.secret_values import secret_of
from harness.reference_broker.settings import BrokerSettings, SettingError

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENTS = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def tls_context(settings: BrokerSettings, *, has_sasl: bool) -> ssl.SSLContext:
    """Raises SettingError: a store is missing or cannot be read, or a value is unknown.

    A listener that ``has_sasl`` asks for no certificate: `ssl.client.auth` counts there only with
    the prefix of the listener (KIP-684), which this broker does not have.
    """
    context = _own_context(settings, ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.verify_mode = ssl.CERT_NONE if has_sasl else _clients(settings)
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, _store(settings, "truststore"))
    return context


def client_context(settings: BrokerSettings) -> ssl.SSLContext:
    """Return the context for links to other nodes. Raises SettingError.

    Their certificates have to be for their hosts, as `ssl.endpoint.identification.algorithm` wants
    it by default.
    """
    context = _own_context(settings, ssl.PROTOCOL_TLS_CLIENT)
    _trust(context, _store(settings, "truststore"))
    return context


def _own_context(settings: BrokerSettings, side: int) -> ssl.SSLContext:
    """Return a context with the certificate, the versions and the suites of the settings."""
    context = ssl.SSLContext(side)
    versions = _versions(settings)
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    choose_ciphers(context, settings)
    path, password = _store(settings, "keystore"), secret_of(settings, "ssl.key.password").reveal()
    try:
        # Always a password: OpenSSL would read one from the terminal.
        context.load_cert_chain(path, password=lambda: password)
    except (OSError, ssl.SSLError) as problem:
        raise SettingError(f"ssl.keystore.location: {path}: {_said(problem)}") from None
    return context


def _versions(settings: BrokerSettings) -> list[ssl.TLSVersion]:
    named = settings.values["ssl.enabled.protocols"]
    assert isinstance(named, tuple), "the setting is a list"
    unknown = [name for name in named if name not in _VERSIONS]
    if unknown or not named:
        raise SettingError(f"ssl.enabled.protocols: {', '.join(unknown)}: only TLSv1.2, TLSv1.3")
    return [_VERSIONS[name] for name in named]


def _clients(settings: BrokerSettings) -> ssl.VerifyMode:
    name = settings.text("ssl.client.auth")
    if name not in _CLIENTS:
        raise SettingError(f"ssl.client.auth: {name!r}: only {', '.join(_CLIENTS)}")
    return _CLIENTS[name]


def _store(settings: BrokerSettings, which: str) -> str:
    kind, path = settings.text(f"ssl.{which}.type"), settings.text(f"ssl.{which}.location")
    if kind != "PEM":
        raise SettingError(f"ssl.{which}.type={kind}: this broker reads PEM files only")
    if not path:
        raise SettingError(f"ssl.{which}.location is missing: the PEM file of the {which}")
    return path


def _trust(context: ssl.SSLContext, path: str) -> None:
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError) as problem:
        raise SettingError(f"ssl.truststore.location: {path}: {_said(problem)}") from None


def _said(problem: OSError) -> str:
    if isinstance(problem, ssl.SSLError):
        return problem.reason or "OpenSSL refuses it"
    return problem.strerror or "it cannot be read"

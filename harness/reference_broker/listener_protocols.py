"""The security protocol of each listener, by `listener.security.protocol.map` (KIP-103)."""

from harness.reference_broker.settings import BrokerSettings, SettingError
from harness.security.settings import SecurityProtocol

_MAP = "listener.security.protocol.map"


def protocol_of(settings: BrokerSettings, listener: str) -> SecurityProtocol:
    """Return the protocol of a listener; PLAINTEXT where the map does not name it.

    Raises SettingError.
    """
    return _protocols(settings.text(_MAP)).get(listener, SecurityProtocol.PLAINTEXT)


def is_secured(settings: BrokerSettings) -> bool:
    """True if a listener has SASL: clients can be users then. Raises SettingError."""
    return any(protocol.has_sasl for protocol in _protocols(settings.text(_MAP)).values())


def _protocols(text: str) -> dict[str, SecurityProtocol]:
    found: dict[str, SecurityProtocol] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        listener, separator, name = pair.partition(":")
        try:
            protocol = SecurityProtocol(name.strip().upper())
        except ValueError:
            known = ", ".join(SecurityProtocol)
            raise SettingError(f"{_MAP}: {name!r} is no security protocol: {known}") from None
        if not separator or not listener.strip() or listener.strip() in found:
            raise SettingError(f"{_MAP} is written LISTENER:PROTOCOL,..., each once, not {text!r}")
        found[listener.strip()] = protocol
    return found

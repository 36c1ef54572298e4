"""The security protocol of each listener, by `listener.security.protocol.map` (KIP-103)."""

from enum import StrEnum

from harness.reference_broker.settings import BrokerSettings, SettingError

_MAP = "listener.security.protocol.map"


class ListenerProtocol(StrEnum):
    """The protocols of Kafka's listeners (class SecurityProtocol)."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        """True if the connections are encrypted."""
        return self in (ListenerProtocol.SSL, ListenerProtocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        """True if the clients authenticate themselves by SASL."""
        return self in (ListenerProtocol.SASL_PLAINTEXT, ListenerProtocol.SASL_SSL)


def protocol_of(settings: BrokerSettings, listener: str) -> ListenerProtocol:
    """Return the protocol of a listener; PLAINTEXT where the map does not name it.

    Raises SettingError.
    """
    return _protocols(settings.text(_MAP)).get(listener, ListenerProtocol.PLAINTEXT)


def is_secured(settings: BrokerSettings) -> bool:
    """True if a listener has SASL: clients can be users then. Raises SettingError."""
    return any(protocol.has_sasl for protocol in _protocols(settings.text(_MAP)).values())


def _protocols(text: str) -> dict[str, ListenerProtocol]:
    found: dict[str, ListenerProtocol] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        listener, separator, name = pair.partition(":")
        try:
            protocol = ListenerProtocol(name.strip().upper())
        except ValueError:
            known = ", ".join(ListenerProtocol)
            raise SettingError(f"{_MAP}: {name!r} is no security protocol: {known}") from None
        if not separator or not listener.strip() or listener.strip() in found:
            raise SettingError(f"{_MAP} is written LISTENER:PROTOCOL,..., each once, not {text!r}")
        found[listener.strip()] = protocol
    return found

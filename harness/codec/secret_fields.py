"""The fields of messages that are secrets: shown nowhere, neither decoded nor as bytes.

Sources: KIP-152 (auth_bytes), KIP-48 (hmac), KIP-554 (salted_password), and the configs of the type
PASSWORD of Kafka's brokers.
"""

from __future__ import annotations

SHOWN = "<secret>"
_FIELDS = frozenset({"auth_bytes", "hmac", "salted_password"})
_CONFIG_ENDINGS = (
    "password",
    "secret",
    "sasl.jaas.config",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.truststore.certificates",
)


def is_secret(struct: object, field: str) -> bool:
    """True if the field of this struct has a value that must not be shown."""
    if field in _FIELDS:
        return bool(getattr(struct, field))
    if field != "value":
        return False
    config = getattr(struct, "name", None)
    return isinstance(config, str) and config.endswith(_CONFIG_ENDINGS) and bool(
        getattr(struct, field)
    )  # fmt: skip


def has_secret(value: object) -> bool:
    """True if a message, struct or list contains such a field, at any depth."""
    if isinstance(value, list):
        return any(has_secret(each) for each in value)
    spec = getattr(type(value), "spec", None)
    if spec is None:
        return False
    names = [field.name for field in spec.fields]
    return any(is_secret(value, name) or has_secret(getattr(value, name)) for name in names)

"""The settings of TLS in a client's properties file."""

from __future__ import annotations

from pathlib import Path

from harness.security.property_values import PropertyValues, listed
from harness.security.secret import Secret
from harness.security.settings import KeyStore, StoreType, TlsSettings, TrustStore

_TRUST = "ssl.truststore.location"
_TRUST_TYPE = "ssl.truststore.type"
_OWN = "ssl.keystore.location"
_OWN_TYPE = "ssl.keystore.type"
_CHECK_NAME = "ssl.endpoint.identification.algorithm"
_CHECK_CERTIFICATE = "enable.ssl.certificate.verification"
_VERSIONS = "ssl.enabled.protocols"
_OTHER, _OTHER_NAME = "kafka-conformance.keystore.other", "kafka-conformance.keystore.other.name"
_UNTRUSTED = "kafka-conformance.keystore.untrusted"
OF_JUDGES = (_OTHER, _OTHER_NAME, _UNTRUSTED)
"""Settings beside Kafka's: certificates with which tests enter, all PEM files."""
_KNOWN_VERSIONS = ("TLSv1.2", "TLSv1.3")
_BY_ENDING = {
    ".pem": StoreType.PEM,
    ".crt": StoreType.PEM,
    ".p12": StoreType.PKCS12,
    ".pfx": StoreType.PKCS12,
    ".jks": StoreType.JKS,
}


def read_tls(values: PropertyValues) -> TlsSettings:
    """Raises SecurityError."""
    return TlsSettings(
        trust=_trust(values),
        own=_own(values),
        checks_host_name=_checks_host_name(values),
        checks_certificate=_flag(values, _CHECK_CERTIFICATE, default=True),
        versions=_versions(values),
        other=_of_judges(values, _OTHER),
        other_name=values.get(_OTHER_NAME),
        untrusted=_of_judges(values, _UNTRUSTED),
    )


def _of_judges(values: PropertyValues, key: str) -> KeyStore | None:
    path = values.file(key) if values.get(key) else None
    return None if path is None else KeyStore(StoreType.PEM, path)


def _trust(values: PropertyValues) -> TrustStore | None:
    source = values.given(_TRUST, "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem")
    if not source:
        return None
    if source in ("ssl.truststore.certificates", "ssl.ca.pem"):
        _expect_pem(values, _TRUST_TYPE)
        return TrustStore(StoreType.PEM, text=values.get(source))
    path = values.file(source)
    if path is None:
        raise values.fail(source, "has no value")
    password = values.secret("ssl.truststore.password")
    kind = _type(values, _TRUST_TYPE, path) if source == _TRUST else StoreType.PEM
    return TrustStore(_no_jks(values, source, kind, path), path, password)


def _own(values: PropertyValues) -> KeyStore | None:
    source = values.given(
        _OWN,
        "ssl.keystore.certificate.chain",
        "ssl.certificate.location",
        "ssl.certificate.pem",
    )
    key = values.given("ssl.keystore.key", "ssl.key.location", "ssl.key.pem")
    if not source:
        if key:
            raise values.fail(key, "a key without its certificate")
        return None
    key_password = values.secret("ssl.key.password")
    if source == _OWN:
        path = values.file(source)
        if path is None or key:
            raise values.fail(source, f"contradicts {key}" if path else "has no value")
        kind = _no_jks(values, source, _type(values, _OWN_TYPE, path), path)
        password = values.secret("ssl.keystore.password")
        return KeyStore(kind, path, password=password, key_password=key_password)
    return _own_pem(values, source, key, key_password)


def _own_pem(values: PropertyValues, source: str, key: str, password: Secret | None) -> KeyStore:
    _expect_pem(values, _OWN_TYPE)
    if not key:
        raise values.fail(source, "a certificate without its key")
    by_path, key_by_path = source.endswith(".location"), key == "ssl.key.location"
    if by_path != key_by_path:
        raise values.fail(key, f"does not fit {source}: give both as files, or both as texts")
    if by_path:
        return KeyStore(StoreType.PEM, values.file(source), values.file(key), key_password=password)
    return KeyStore(
        StoreType.PEM, chain=values.get(source), key=values.secret(key), key_password=password
    )


def _type(values: PropertyValues, key: str, path: Path) -> StoreType:
    """The type that is given; by the file's ending; Kafka's default is JKS."""
    return values.one_of(key, StoreType, _BY_ENDING.get(path.suffix.lower(), StoreType.JKS))


def _expect_pem(values: PropertyValues, key: str) -> None:
    kind = values.one_of(key, StoreType, StoreType.PEM)
    if kind is not StoreType.PEM:
        raise values.fail(key, f"{kind} contradicts certificates that are PEM texts")


def _no_jks(values: PropertyValues, key: str, kind: StoreType, path: Path) -> StoreType:
    if kind is StoreType.JKS:
        target = path.with_suffix(".p12").name
        raise values.fail(
            key,
            f"{path} is a JKS store, which only Java reads. Convert it, and name the new file: "
            f"keytool -importkeystore -srckeystore {path.name} -destkeystore {target} "
            "-deststoretype PKCS12",
        )
    return kind


def _checks_host_name(values: PropertyValues) -> bool:
    """Kafka's default is https; an empty value switches the check off, as librdkafka's none."""
    if not values.has(_CHECK_NAME):
        return True
    text = values.get(_CHECK_NAME).strip().lower()
    if text not in ("https", "none", ""):
        raise values.fail(_CHECK_NAME, f"{text!r} is not known; known: https, or nothing")
    return text == "https"


def _flag(values: PropertyValues, key: str, *, default: bool) -> bool:
    text = values.get(key).strip().lower()
    if text not in ("true", "false", ""):
        raise values.fail(key, f"must be true or false, is {text!r}")
    return text == "true" if text else default


def _versions(values: PropertyValues) -> tuple[str, ...]:
    versions = tuple(word.strip() for word in values.get(_VERSIONS).split(",") if word.strip())
    for version in versions:
        if version not in _KNOWN_VERSIONS:
            raise values.fail(
                _VERSIONS, f"{version!r} is not known; known: {listed(_KNOWN_VERSIONS)}"
            )
    return versions

"""A client's properties file becomes settings, or an error with its line and without a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.security.authority import Authority
from harness.security.errors import SecurityError
from harness.security.reading import read_settings
from harness.security.settings import Mechanism, SecurityProtocol, SecuritySettings, StoreType

SECRET = "marked-SECRET-word"
MODULE = "org.apache.kafka.common.security"
SCRAM = f'{MODULE}.scram.ScramLoginModule required username="judge" password="{SECRET}";'
OAUTH = f"{MODULE}.oauthbearer.OAuthBearerLoginModule required"


def read(folder: Path, text: str, **environment: str) -> SecuritySettings:
    file = folder / "client.properties"
    file.write_text(text)
    return read_settings(file, environment)


def refused(folder: Path, text: str) -> str:
    """The error without the folder."""
    with pytest.raises(SecurityError) as caught:
        read(folder, text)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)
    return str(caught.value).removeprefix(f"{folder}/client.properties")


def test_an_empty_file_is_a_plaintext_listener(tmp_path: Path) -> None:
    settings = read(tmp_path, "")
    assert settings.protocol is SecurityProtocol.PLAINTEXT
    assert settings.tls is None
    assert settings.sasl is None


def test_scram_by_kafkas_names(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config={SCRAM}",
    )
    assert settings.sasl is not None
    assert settings.sasl.mechanism is Mechanism.SCRAM_SHA_512
    assert settings.sasl.username == "judge"
    assert settings.sasl.password.reveal() == SECRET
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings)


def test_the_names_of_librdkafka_mean_the_same(tmp_path: Path) -> None:
    own = Authority().sign("client")
    (tmp_path / "own.pem").write_text(own.certificate_pem)
    (tmp_path / "own.key").write_text(own.key_pem())
    settings = read(
        tmp_path,
        "security.protocol=sasl_ssl\nsasl.mechanisms=PLAIN\nsasl.username=judge\n"
        f"sasl.password={SECRET}\nssl.certificate.location=own.pem\nssl.key.location=own.key\n"
        "ssl.ca.location=own.pem\nssl.endpoint.identification.algorithm=none\n",
    )
    assert settings.protocol is SecurityProtocol.SASL_SSL
    assert settings.sasl is not None
    assert settings.sasl.mechanism is Mechanism.PLAIN
    assert settings.tls is not None
    assert settings.tls.own is not None
    assert settings.tls.own.key_path == tmp_path / "own.key"
    assert settings.tls.trust is not None
    assert settings.tls.trust.path == tmp_path / "own.pem"
    assert not settings.tls.checks_host_name


def test_the_host_name_is_checked_unless_the_value_is_empty(tmp_path: Path) -> None:
    checked = read(tmp_path, "security.protocol=SSL").tls
    unchecked = read(tmp_path, "security.protocol=SSL\nssl.endpoint.identification.algorithm=").tls
    assert checked is not None
    assert unchecked is not None
    assert (checked.checks_host_name, unchecked.checks_host_name) == (True, False)


def test_the_type_of_a_store_is_given_or_follows_from_its_ending(tmp_path: Path) -> None:
    for name, more, kind in (
        ("ca.pem", "", StoreType.PEM),
        ("ca.p12", "", StoreType.PKCS12),
        ("ca.any", "ssl.truststore.type=pkcs12\n", StoreType.PKCS12),
    ):
        (tmp_path / name).touch()
        tls = read(tmp_path, f"security.protocol=SSL\nssl.truststore.location={name}\n{more}").tls
        assert tls is not None
        assert tls.trust is not None
        assert tls.trust.type is kind


def test_values_come_from_the_environment(tmp_path: Path) -> None:
    text = (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=judge\n"
        "sasl.password=${env:KEPT}"
    )
    sasl = read(tmp_path, text, KEPT=SECRET).sasl
    assert sasl is not None
    assert sasl.password.reveal() == SECRET
    with pytest.raises(SecurityError, match=r"client.properties:4: sasl.password: .* no variable"):
        read(tmp_path, text)


def test_a_token_that_is_given_or_unsecured(tmp_path: Path) -> None:
    begin = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
    given = read(tmp_path, f"{begin}kafka-conformance.token={SECRET}").sasl
    assert given is not None
    assert given.tokens is not None
    assert given.tokens.token() == SECRET
    made = read(
        tmp_path,
        f"{begin}sasl.jaas.config={OAUTH} unsecuredLoginStringClaim_sub=judge extension_team=one;",
    ).sasl
    assert made is not None
    assert made.tokens is not None
    assert made.tokens.token().endswith(".")
    assert made.extensions == (("team", "one"),)


def test_settings_that_are_not_about_connections_are_ignored(tmp_path: Path) -> None:
    text = "acks=all\ngroup.id=g\nbootstrap.servers=b:9092\nclient.id=c\nlinger.ms=5"
    assert read(tmp_path, text).protocol is SecurityProtocol.PLAINTEXT


SASL = "security.protocol=SASL_PLAINTEXT\n"
ERRORS = {
    "a=b": ":1: a: is no setting of Kafka's clients that is known here",
    "\nsecurity.protocl=SSL": (
        ":2: security.protocl: is no setting of Kafka's clients that is known here"
        ' - did you mean "security.protocol"?'
    ),
    "security.protocol=TLS": ":1: security.protocol: 'TLS' is not known",
    "acks=1\nacks=1": ":2: acks: is given twice, first in line 1",
    f"sasl.password={SECRET}": (
        ":1: sasl.password: contradicts security.protocol=PLAINTEXT, which has no SASL"
    ),
    "ssl.truststore.type=PEM": (
        ":1: ssl.truststore.type: contradicts security.protocol=PLAINTEXT, which has no TLS"
    ),
    SASL: ": sasl.mechanism: is missing; Kafka's default, GSSAPI, is not supported",
    f"{SASL}sasl.mechanism=GSSAPI": ":2: sasl.mechanism: GSSAPI (Kerberos) is not supported",
    "sasl.kerberos.service.name=kafka": ":1: sasl.kerberos.service.name: GSSAPI (Kerberos) is not",
    f"{SASL}sasl.mechanism=SCRAM-SHA-1": ":2: sasl.mechanism: 'SCRAM-SHA-1' is not known",
    f"{SASL}sasl.mechanism=PLAIN\nsasl.mechanisms=PLAIN": (
        ":3: sasl.mechanisms: contradicts sasl.mechanism: give one of the two"
    ),
    f"{SASL}sasl.mechanism=PLAIN\nsasl.username=u": ": sasl.password: is missing: PLAIN needs it",
    f"{SASL}sasl.mechanism=PLAIN\nsasl.jaas.config={SCRAM}": (
        ":3: sasl.jaas.config: ScramLoginModule contradicts the mechanism PLAIN"
    ),
    f"{SASL}sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={SCRAM}\nsasl.username=u": (
        ":4: sasl.username: contradicts sasl.jaas.config"
    ),
    f'{SASL}sasl.mechanism=PLAIN\nsasl.jaas.config=x.PlainLoginModule required p="{SECRET};': (
        ":3: sasl.jaas.config: a quote is not closed"
    ),
    f"{SASL}sasl.mechanism=PLAIN\nsasl.jaas.config=x.PlainLoginModule required p={SECRET}": (
        ":3: sasl.jaas.config: one login module ends with one semicolon"
    ),
    f"{SASL}sasl.mechanism=PLAIN\nsasl.jaas.config=x.Krb5LoginModule required p=q;": (
        ":3: sasl.jaas.config: the login module x.Krb5LoginModule is not known"
    ),
    f"{SASL}sasl.mechanism=OAUTHBEARER": ": sasl.jaas.config: no token: give",
    f"{SASL}sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=ftp://a/": (
        ":3: sasl.oauthbearer.token.endpoint.url: must begin with http:// or https://"
    ),
    f"{SASL}sasl.mechanism=OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=http://a/": (
        ":3: sasl.oauthbearer.token.endpoint.url: needs "
    ),
    f"{SASL}sasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=${{file:/a:b}}": (
        ":4: sasl.password: ${file:...} is not read; write ${env:NAME}"
    ),
    "security.protocol=SSL\nssl.truststore.location=absent.pem": (
        ":2: ssl.truststore.location: there is no file "
    ),
    "security.protocol=SSL\nssl.truststore.location=client.properties": (
        ":2: ssl.truststore.location: "
    ),
    "security.protocol=SSL\nssl.ca.location=client.properties\nssl.truststore.location=a.p12": (
        ":2: ssl.ca.location: contradicts ssl.truststore.location"
    ),
    "security.protocol=SSL\nssl.key.location=client.properties": (
        ":2: ssl.key.location: a key without its certificate"
    ),
    "security.protocol=SSL\nssl.certificate.location=client.properties": (
        ":2: ssl.certificate.location: a certificate without its key"
    ),
    "security.protocol=SSL\nssl.enabled.protocols=SSLv3": ":2: ssl.enabled.protocols: 'SSLv3'",
    "ssl.cipher.suites=A": ":1: ssl.cipher.suites: cannot be chosen here",
    "ssl.endpoint.identification.algorithm=x\nsecurity.protocol=SSL": (
        ":1: ssl.endpoint.identification.algorithm: 'x' is not known"
    ),
}


@pytest.mark.parametrize("text", ERRORS)
def test_a_setting_that_cannot_be_used_is_an_error_with_its_line(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text).startswith(ERRORS[text])


def test_a_jks_store_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    (tmp_path / "trust.jks").touch()
    said = refused(tmp_path, "security.protocol=SSL\nssl.truststore.location=trust.jks")
    assert said.startswith(":2: ssl.truststore.location: ")
    assert "keytool -importkeystore -srckeystore trust.jks -destkeystore trust.p12" in said


def test_certificates_of_other_clients_need_tls_and_no_sasl(tmp_path: Path) -> None:
    begin = "kafka-conformance.keystore"
    Authority().sign("other").write_pem(tmp_path / "other.pem")
    text = f"{begin}.other=other.pem\n{begin}.other.name=CN=a\\\\, b\n"
    settings = read(tmp_path, f"security.protocol=SSL\n{text}")
    assert settings.tls is not None
    assert settings.tls.other is not None
    assert settings.tls.other.path == tmp_path / "other.pem"
    assert settings.tls.other_name == "CN=a\\, b"
    assert settings.tls.untrusted is None
    assert "which has no TLS" in refused(tmp_path, text)

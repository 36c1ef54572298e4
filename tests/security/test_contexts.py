"""TLS contexts from each kind of store, and the errors about wrong ones."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

import pytest

from harness.security.authority import Authority
from harness.security.contexts import new_context
from harness.security.errors import SecurityError
from harness.security.secret import Secret
from harness.security.settings import KeyStore, StoreType, TlsSettings, TrustStore

WORD = "word-SECRET"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def names(context: ssl.SSLContext) -> list[str]:
    return [str(each["subject"]) for each in context.get_ca_certs()]


def test_a_truststore_is_read_as_pem_file_text_or_pkcs12(
    tmp_path: Path, authority: Authority
) -> None:
    pem, p12 = tmp_path / "ca.pem", tmp_path / "ca.p12"
    authority.write_pem(pem)
    authority.write_pkcs12(p12, WORD)
    for trust in (
        TrustStore(StoreType.PEM, pem),
        TrustStore(StoreType.PEM, text=pem.read_text()),
        TrustStore(StoreType.PKCS12, p12, Secret(WORD)),
    ):
        found = names(new_context(TlsSettings(trust)))
        assert len(found) == 1
        assert "authority of a run" in found[0]


def test_a_keystore_is_read_as_pem_file_files_texts_or_pkcs12(
    tmp_path: Path, authority: Authority
) -> None:
    own = authority.sign("client")
    both, key, p12 = tmp_path / "own.pem", tmp_path / "own.key", tmp_path / "own.p12"
    own.write_pem(both, WORD)
    own.write_pkcs12(p12, WORD)
    key.write_text(own.key_pem(WORD))
    before = set(Path(tempfile.gettempdir()).glob("*.pem"))
    for store in (
        KeyStore(StoreType.PEM, both, key_password=Secret(WORD)),
        KeyStore(StoreType.PEM, both, key, key_password=Secret(WORD)),
        KeyStore(StoreType.PEM, chain=own.certificate_pem, key=Secret(own.key_pem())),
        KeyStore(StoreType.PKCS12, p12, password=Secret(WORD)),
    ):
        new_context(TlsSettings(own=store))
    left = set(Path(tempfile.gettempdir()).glob("*.pem")) - before
    assert not [path for path in left if own.certificate_pem in path.read_text()]


def test_a_wrong_password_is_an_error_that_names_the_file(
    tmp_path: Path, authority: Authority
) -> None:
    own = authority.sign("client")
    for store in (
        KeyStore(
            StoreType.PEM, own.write_pem(tmp_path / "own.pem", WORD), key_password=Secret("no")
        ),
        KeyStore(StoreType.PEM, tmp_path / "own.pem"),
        KeyStore(
            StoreType.PKCS12, own.write_pkcs12(tmp_path / "own.p12", WORD), password=Secret("no")
        ),
    ):
        with pytest.raises(SecurityError, match=r"^settings: .*own\.") as caught:
            new_context(TlsSettings(own=store), Path("settings"))
        assert WORD not in str(caught.value)


def test_a_truststore_without_certificates_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    for trust in (
        TrustStore(StoreType.PEM, tmp_path / "ca.pem"),
        TrustStore(StoreType.PEM, text="no certificate"),
        TrustStore(StoreType.PKCS12, tmp_path / "ca.pem", Secret(WORD)),
    ):
        with pytest.raises(SecurityError, match="no certificates can be read"):
            new_context(TlsSettings(trust))


def test_the_checks_and_the_versions_are_those_of_the_settings() -> None:
    usual = new_context(TlsSettings())
    assert usual.check_hostname
    assert usual.verify_mode is ssl.CERT_REQUIRED
    assert usual.minimum_version is ssl.TLSVersion.TLSv1_2
    unchecked = new_context(TlsSettings(checks_host_name=False))
    assert not unchecked.check_hostname
    assert unchecked.verify_mode is ssl.CERT_REQUIRED
    blind = new_context(TlsSettings(checks_certificate=False))
    assert blind.verify_mode is ssl.CERT_NONE
    newest = new_context(TlsSettings(versions=("TLSv1.3",)))
    assert newest.minimum_version is ssl.TLSVersion.TLSv1_3


def test_an_obsolete_version_is_spoken_where_it_is_named_alone() -> None:
    context = new_context(TlsSettings(versions=("TLSv1.1",)))
    assert (context.minimum_version, context.maximum_version) == (ssl.TLSVersion.TLSv1_1,) * 2
    assert new_context(TlsSettings()).minimum_version is ssl.TLSVersion.TLSv1_2


def test_ciphers_are_those_of_the_settings() -> None:
    named = new_context(TlsSettings(ciphers="ECDHE-RSA-AES128-GCM-SHA256")).get_ciphers()
    assert [one["name"] for one in named if one["protocol"] == "TLSv1.2"] == [
        "ECDHE-RSA-AES128-GCM-SHA256"
    ]

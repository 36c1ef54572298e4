"""The cipher suites that a listener's setting chooses."""

from __future__ import annotations

import ssl

import pytest

from harness.reference_broker.authentication.cipher_suites import choose_ciphers
from harness.reference_broker.settings import BrokerSettings, SettingError

OLD = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
NEW = "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256"
V12, V13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


def chosen(suites: str, lowest: ssl.TLSVersion = V12) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version, context.maximum_version = lowest, V13
    choose_ciphers(context, BrokerSettings.of({"ssl.cipher.suites": suites}))
    return context


@pytest.mark.parametrize(
    ("suites", "versions"),
    [("", (V12, V13)), (OLD, (V12, V12)), (NEW, (V13, V13)), (f"{OLD},{NEW}", (V12, V13))],
)
def test_a_version_without_a_suite_is_not_spoken(
    suites: str, versions: tuple[ssl.TLSVersion, ssl.TLSVersion]
) -> None:
    context = chosen(suites)
    assert (context.minimum_version, context.maximum_version) == versions


def test_older_suites_have_other_names_in_openssl() -> None:
    of_1_2 = [one["name"] for one in chosen(OLD).get_ciphers() if one["protocol"] == "TLSv1.2"]
    assert of_1_2 == ["ECDHE-ECDSA-AES256-GCM-SHA384"]


@pytest.mark.parametrize(
    ("suites", "lowest", "problem"),
    [
        ("TLS_RSA_WITH_RC4_128_MD5", V12, "TLS_RSA_WITH_RC4_128_MD5: this broker knows"),
        ("TLS_AES_128_GCM_SHA256", V12, "all together"),
        (OLD, V13, "no version in common"),
    ],
)
def test_suites_that_cannot_be_had_are_refused(
    suites: str, lowest: ssl.TLSVersion, problem: str
) -> None:
    with pytest.raises(SettingError, match=problem):
        chosen(suites, lowest)

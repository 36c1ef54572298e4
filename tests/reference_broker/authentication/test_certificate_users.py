"""The user of a client's certificate: its distinguished name as Java writes it, and the rules."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from harness.reference_broker.authentication.distinguished_name import subject_of
from harness.reference_broker.authentication.principal_rules import NoRuleMatches, PrincipalRules
from harness.reference_broker.settings import SettingError
from harness.security.authority import Authority


def subject(*names: tuple[x509.ObjectIdentifier, str]) -> str:
    name = x509.Name([x509.NameAttribute(oid, value) for oid, value in names])
    signed = Authority().sign(name)
    return subject_of(signed.certificate.public_bytes(serialization.Encoding.DER))


def test_the_last_name_comes_first() -> None:
    assert (
        subject(
            (NameOID.COUNTRY_NAME, "DE"),
            (NameOID.ORGANIZATION_NAME, "Judges"),
            (NameOID.ORGANIZATIONAL_UNIT_NAME, "Kafka"),
            (NameOID.COMMON_NAME, "judge"),
        )
        == "CN=judge,OU=Kafka,O=Judges,C=DE"
    )


def test_special_characters_are_escaped() -> None:
    assert subject((NameOID.COMMON_NAME, 'a,b+c"d\\e<f>g;h')) == (
        'CN=a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h'
    )
    assert subject((NameOID.COMMON_NAME, "#x ")) == "CN=\\#x\\ "
    assert subject((NameOID.COMMON_NAME, "Jürgen")) == "CN=Jürgen"


def test_a_name_without_a_short_form_is_written_as_der() -> None:
    found = subject((NameOID.COMMON_NAME, "judge"), (NameOID.EMAIL_ADDRESS, "j@x"))
    assert found == "1.2.840.113549.1.9.1=#16036a4078,CN=judge"


@pytest.mark.parametrize(
    ("rules", "user"),
    [
        ("DEFAULT", "CN=judge,OU=Kafka,O=Judges"),
        ("", "CN=judge,OU=Kafka,O=Judges"),
        ("RULE:^CN=(.*?),OU=Kafka.*$/$1/", "judge"),
        ("RULE:^CN=(.*?),OU=Kafka.*$/$1/U", "JUDGE"),
        ("RULE:^CN=(.*?),OU=(.*?),.*$/$2.$1/L", "kafka.judge"),
        ("RULE:^OU=(.*)$/$1/, RULE:CN=(.*?),.*/$1@x/,DEFAULT", "judge@x"),
        ("RULE:^OU=(.*)$/$1/,DEFAULT", "CN=judge,OU=Kafka,O=Judges"),
    ],
)
def test_the_first_rule_that_matches_gives_the_user(rules: str, user: str) -> None:
    assert PrincipalRules(rules).user_of("CN=judge,OU=Kafka,O=Judges") == user


def test_a_name_without_a_rule_has_no_user() -> None:
    with pytest.raises(NoRuleMatches):
        PrincipalRules("RULE:^CN=(.*?),OU=Kafka$/$1/").user_of("CN=judge,OU=Kafka,O=Judges")


@pytest.mark.parametrize("rules", ["RULE:x", "RULE:(/x/", "DEFAULT x", "RULE:a/b/X", "default"])
def test_rules_of_another_form_are_refused(rules: str) -> None:
    with pytest.raises(SettingError, match=r"ssl\.principal\.mapping\.rules"):
        PrincipalRules(rules)

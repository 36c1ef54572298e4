"""A certificate authority of a run, and what it signs; made at the start, never kept."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PEM = serialization.Encoding.PEM
LIFE = datetime.timedelta(days=2)


@dataclass(frozen=True)
class Signed:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(PEM).decode()

    def key_pem(self, password: str = "") -> str:
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            encryption = serialization.BestAvailableEncryption(password.encode())
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(PEM, form, encryption).decode()

    def write_pem(self, path: Path, password: str = "") -> Path:
        """The key and the certificate in one file."""
        path.write_text(self.key_pem(password) + self.certificate_pem)
        return path

    def write_pkcs12(self, path: Path, password: str) -> Path:
        encryption = serialization.BestAvailableEncryption(password.encode())
        path.write_bytes(
            pkcs12.serialize_key_and_certificates(
                b"own", self.key, self.certificate, None, encryption
            )
        )
        return path


class Authority:
    """Signs certificates of hosts and of clients."""

    def __init__(self, name: str = "authority of a run", life: datetime.timedelta = LIFE) -> None:
        """``life``: of its certificate and of those that it signs, from the start on."""
        self._life = life
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _named(name)
        built = _begun(subject, subject, key, life).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self.own = Signed(built.sign(key, hashes.SHA256()), key)

    def sign(
        self, name: str | x509.Name, hosts: tuple[str, ...] = ("127.0.0.1", "localhost")
    ) -> Signed:
        """A certificate for a host, or a client, of that name."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _named(name) if isinstance(name, str) else name
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        built = (
            _begun(subject, self.own.certificate.subject, key, self._life)
            .add_extension(x509.SubjectAlternativeName([_general(h) for h in hosts]), False)
            .add_extension(x509.ExtendedKeyUsage(usages), False)
        )
        return Signed(built.sign(self.own.key, hashes.SHA256()), key)

    def write_pem(self, path: Path) -> Path:
        path.write_text(self.own.certificate_pem)
        return path

    def write_java_truststore(self, path: Path, password: str) -> Path:
        """A truststore for Java, with the attribute without which Java trusts no certificate."""
        entry = pkcs12.PKCS12Certificate(self.own.certificate, b"authority")
        encryption = serialization.BestAvailableEncryption(password.encode())
        path.write_bytes(pkcs12.serialize_java_truststore([entry], encryption))
        return path

    def write_pkcs12(self, path: Path, password: str) -> Path:
        """A truststore, as keytool makes it: certificates without a key."""
        encryption = serialization.BestAvailableEncryption(password.encode())
        path.write_bytes(
            pkcs12.serialize_key_and_certificates(
                None, None, None, [self.own.certificate], encryption
            )
        )
        return path


def subject(text: str) -> x509.Name:
    """Return a name of several parts from its text (RFC 4514), where the last part comes first."""
    return x509.Name.from_rfc4514_string(text)


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    life: datetime.timedelta,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LIFE)
        .not_valid_after(now + life)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)

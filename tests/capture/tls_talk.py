"""TLS conversations of Python's ssl module in memory, as captures with a key log."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harness.capture.segment import SocketAddress
from tests.capture.made import BROKER, CLIENT, Conversation

NAME = "broker.example"


class TlsTalk:
    """A handshake, then bytes of either end, written as segments into ``captured``.

    ``key_log``: the file with the secrets. ``trusting``: the client accepts the certificate.
    """

    def __init__(
        self,
        folder: Path,
        version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
        ciphers: str = "DEFAULT",
        *,
        trusting: bool = True,
    ) -> None:
        self.key_log = folder / "keys.log"
        self.captured = Conversation().open()
        certificate = _certificate(folder)
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.minimum_version = client.maximum_version = version
        client.set_ciphers(ciphers)
        client.keylog_filename = str(self.key_log)
        if trusting:
            client.load_verify_locations(certificate)
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(certificate)
        self._into = {CLIENT: ssl.MemoryBIO(), BROKER: ssl.MemoryBIO()}
        self._out = {CLIENT: ssl.MemoryBIO(), BROKER: ssl.MemoryBIO()}
        self._ends = {
            CLIENT: client.wrap_bio(self._into[CLIENT], self._out[CLIENT], server_hostname=NAME),
            BROKER: server.wrap_bio(self._into[BROKER], self._out[BROKER], server_side=True),
        }

    def shake_hands(self) -> None:
        """Raises SSLError when an end refuses the other, after its alert."""
        done: set[SocketAddress] = set()
        for _ in range(8):
            for source, end in self._ends.items():
                if source in done:
                    continue
                try:
                    end.do_handshake()
                    done.add(source)
                except ssl.SSLWantReadError:
                    pass
                finally:
                    self._send(source)

    def _send(self, source: SocketAddress) -> None:
        data = self._out[source].read()
        if data:
            self.captured.send(source, data)
            self._into[_other(source)].write(data)

    def say(self, source: SocketAddress, data: bytes) -> None:
        """Encrypt bytes of one end, and read them at the other."""
        self._ends[source].write(data)
        self._send(source)
        read = b""
        while len(read) < len(data):
            read += self._ends[_other(source)].read(len(data))
        assert read == data


def _other(end: SocketAddress) -> SocketAddress:
    return BROKER if end == CLIENT else CLIENT


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file

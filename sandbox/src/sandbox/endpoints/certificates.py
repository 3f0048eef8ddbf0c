"""A certificate authority, and server certificates in the states that a fault can name."""

import ssl
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import NameOID

AUTHORITY_FILE = "authority.pem"
VALID_DAYS = 90
AUTHORITY_DAYS = 3650
LOCAL_NAMES = (x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1")))
OTHER_NAMES = (x509.DNSName("another-host.example"),)


class Authority:
    """An authority whose certificate is `authority.pem` in the folder, for clients that shall trust it."""

    def __init__(self, name: str, key: EllipticCurvePrivateKey | None = None) -> None:
        self._key = key or generate_private_key(SECP256R1())
        self._name = _name(name)
        self.certificate = self._issue(self._name, self._key, AUTHORITY_DAYS, x509.BasicConstraints(True, None))

    @classmethod
    def in_folder(cls, folder: Path) -> "Authority":
        """Return the authority of an earlier start in this folder, else a new one, kept there."""
        key_file, shown = folder / "authority.key", folder / AUTHORITY_FILE
        if key_file.exists():
            key = load_pem_private_key(key_file.read_bytes(), None)
            authority = cls("campus sandbox", key if isinstance(key, EllipticCurvePrivateKey) else None)
        else:
            authority = cls("campus sandbox")
            key_file.touch(mode=0o600)
            key_file.write_bytes(_pem(authority._key))
        # Clients trust the name and the key, which stay; the certificate's dates are new.
        shown.write_bytes(authority.certificate.public_bytes(Encoding.PEM))
        return authority

    def server_context(self, state: str) -> ssl.SSLContext:
        """Return the server's side of TLS with the certificate of this state; `none` has no certificate."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        if state == "none":
            return context
        with NamedTemporaryFile() as file:
            file.write(self.key_and_certificate(state))
            file.flush()
            context.load_cert_chain(file.name)
        return context

    def key_and_certificate(self, state: str) -> bytes:
        """Return a new key of a server, and its certificate of this state, as PEM."""
        issuer = Authority("unknown authority") if state == "unknown_authority" else self
        days = -1 if state == "expired" else int(state[5:]) if state.startswith("days=") else VALID_DAYS
        names = OTHER_NAMES if state == "wrong_host" else LOCAL_NAMES
        key = generate_private_key(SECP256R1())
        certificate = issuer._issue(_name("campus sandbox"), key, days, x509.SubjectAlternativeName(names))
        return _pem(key) + certificate.public_bytes(Encoding.PEM)

    def _issue(
        self, subject: x509.Name, key: EllipticCurvePrivateKey, days: int, extension: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=2))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )


class ServerCertificates:
    """The contexts of one server by state; each is made once, except `days`, whose certificates age."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._kept = lru_cache(authority.server_context)

    def in_state(self, state: str) -> ssl.SSLContext:
        return self._authority.server_context(state) if state.startswith("days=") else self._kept(state)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(key: EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

"""A certificate authority of the tests."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


class Authority:
    """An authority: `pem` is its certificate, and `client` the context of a client that trusts it alone."""

    def __init__(self) -> None:
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"Authority {uuid4()}")])
        self._key = ec.generate_private_key(ec.SECP256R1())
        root = x509.BasicConstraints(ca=True, path_length=None)
        self.pem = self._signed(self._name, self._key.public_key(), 1, root)
        self.client = ssl.create_default_context(cadata=self.pem.decode())

    def issue(self, file: Path, *names: str, days: float = 1) -> Path:
        """Write a new certificate for these names or addresses, with its key, in place of the file; return the file."""
        own = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([_name(name) for name in names])
        certificate = self._signed(x509.Name([]), own.public_key(), days, alternatives)
        fresh = file.with_suffix(".new")
        fresh.touch(mode=0o600)
        fresh.write_bytes(certificate + own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return fresh.replace(file)

    def server_of(self, folder: Path, *names: str, days: float = 1) -> ssl.SSLContext:
        """Return the context of a server with these names."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.issue(folder / f"{names[0]}.pem", *names, days=days))
        return context

    def _signed(self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey, days: float, extension: Any) -> bytes:
        now = datetime.now(UTC)
        made = x509.CertificateBuilder(self._name, subject, public_key, x509.random_serial_number())
        made = made.not_valid_before(now - timedelta(2)).not_valid_after(now + timedelta(days))
        return made.add_extension(extension, critical=False).sign(self._key, SHA256()).public_bytes(Encoding.PEM)


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)

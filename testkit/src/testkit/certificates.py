"""A certificate authority of the tests."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

Authority = tuple[Callable[..., ssl.SSLContext], ssl.SSLContext]


def new_authority() -> Authority:
    """Return a certificate authority: contexts of servers by name, and one of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "An authority of these tests")])
    now = datetime.now(UTC)

    def signed(subject: x509.Name, public_key: ec.EllipticCurvePublicKey, *extensions: Any) -> bytes:
        made = x509.CertificateBuilder(issuer, subject, public_key, x509.random_serial_number())
        made = made.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
        for extension in extensions:
            made = made.add_extension(extension, critical=False)
        return made.sign(key, SHA256()).public_bytes(Encoding.PEM)

    root = signed(issuer, key.public_key(), x509.BasicConstraints(ca=True, path_length=None))
    client = ssl.create_default_context(cadata=root.decode())

    def server_of(folder: Path, *names: str) -> ssl.SSLContext:
        own = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        certificate = signed(x509.Name([]), own.public_key(), alternatives)
        file = folder / f"{names[0]}.pem"
        file.write_bytes(certificate + own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    return server_of, client

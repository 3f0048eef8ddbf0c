"""TLS between the processes of one system: the authorities that its clients trust, and the certificate of a server.

Certificates change without a restart: each new connection uses the current content of the files. Content that cannot be
used leaves the former in use, with an error in the log.
"""

import ssl
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from common.observability.logging import get_logger
from common.observability.telemetry import CERTIFICATE_ENDS_AT
from common.primitives.clock import SystemClock
from common.primitives.tls import client_tls

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

log = get_logger(__name__)


class UnusableCertificate(ValueError):
    """A file of TLS is missing or malformed, a certificate has expired, or a key belongs to another certificate."""


def check_authorities(file: str) -> None:
    """Raise UnusableCertificate unless the file holds an authority that is still valid."""
    _client_context(Path(file))


def inside_client_tls(authorities: str) -> ssl.SSLContext:
    """Return the context of clients of our own processes. It trusts `authorities`, a file of PEM, and no other; empty:
    the public authorities.

    Raises:
        UnusableCertificate: the file is not readable, or holds no authority that is still valid.
    """
    if not authorities:
        return client_tls()
    return _RenewedContext.of(lambda: _client_context(Path(authorities)), authorities)


def server_tls(certificate: str, key: str) -> ssl.SSLContext:
    """Return the context of a server with this certificate and its key, files of PEM.

    Raises:
        UnusableCertificate: a file is not readable, the certificate has expired, or the key belongs to another one.
    """
    return _RenewedContext.of(lambda: _server_context(Path(certificate), Path(key)), certificate, key)


class _RenewedContext(ssl.SSLContext):
    """A context whose new connections use the files as they are now. Event loops call `wrap_bio` for each."""

    _make: Callable[[], ssl.SSLContext]
    _files: tuple[str, ...]
    _read: tuple[object, ...]
    _current: ssl.SSLContext

    @classmethod
    def of(cls, make: Callable[[], ssl.SSLContext], *files: str) -> Self:
        # Before the content: a file that changes in between is read again.
        read, current = _versions(files), make()
        # Libraries look for the checks of a client's context.
        context = cls(current.protocol)
        context._make, context._files, context._current, context._read = make, files, current, read
        return context

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        return self._renewed().wrap_bio(*arguments, **named)

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        return self._renewed().wrap_socket(*arguments, **named)

    def _renewed(self) -> ssl.SSLContext:
        if (read := _versions(self._files)) != self._read:
            self._read = read
            try:
                self._current = self._make()
            except UnusableCertificate as error:
                log.error("a new certificate cannot be used: the former stays in use", error=str(error))
        return self._current


def _versions(files: Sequence[str]) -> tuple[object, ...]:
    return tuple(_version(file) for file in files)


def _version(file: str) -> object:
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size


def _client_context(authorities: Path) -> ssl.SSLContext:
    _check_dates(authorities, each=False)
    try:
        return ssl.create_default_context(cafile=authorities)
    except ssl.SSLError as error:
        raise UnusableCertificate(f"{authorities} is no file of certificates: {error.reason}") from error


def _server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    name, ends_at = _check_dates(certificate, each=True)
    _read(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise UnusableCertificate(
            f"{key} is not the key of the certificate in {certificate} ({error.reason or 'malformed'})"
        ) from error
    # A process has one certificate, whose name may change.
    CERTIFICATE_ENDS_AT.clear()
    CERTIFICATE_ENDS_AT.labels(name).set(ends_at.timestamp())
    return context


def _check_dates(file: Path, *, each: bool) -> tuple[str, datetime]:
    """Return the name of the first certificate in a file, and when it ends. `each` must be valid, or one of them."""
    # Only a process with TLS of its own loads the library.
    from cryptography import x509

    content = _read(file)
    try:
        found = x509.load_pem_x509_certificates(content)
    except ValueError as error:
        raise UnusableCertificate(f"{file} holds no certificate as PEM") from error
    now = SystemClock().now()
    valid = [it for it in found if it.not_valid_after_utc > now]
    if len(valid) < len(found) if each else not valid:
        ended = next(it for it in found if it.not_valid_after_utc <= now)
        raise UnusableCertificate(f"{file}: the certificate ended at {ended.not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    return _name_of(found[0]), found[0].not_valid_after_utc


def _name_of(certificate: "Certificate") -> str:
    from cryptography import x509

    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return str(certificate.subject.rfc4514_string())
    hosts = [names.get_values_for_type(kind) for kind in (x509.DNSName, x509.IPAddress)]
    return str(next((host for of_kind in hosts for host in of_kind), certificate.subject.rfc4514_string()))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UnusableCertificate(f"{file} cannot be read: {error.strerror}") from error

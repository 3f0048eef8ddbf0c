"""Addresses of servers and services of the own system, and whether traffic to them is encrypted and verified."""

import ipaddress
from typing import Final
from urllib.parse import parse_qs, urlsplit

INSIDE_ADDRESSES: Final = (
    "API_DATABASE_URL",
    "SERVICE_DATABASE_URL",
    "BROKER_URL",
    "RATE_LIMIT_STORE_URL",
    "JWKS_URL",
    "IDENTITY_URL",
    "ORDERS_URL",
    "PAYMENTS_URL",
    "PAYOUTS_URL",
    "NOTIFICATIONS_URL",
)
"""Settings with the address of PostgreSQL, RabbitMQ, the quota store or a service."""

_ENCRYPTED: Final = frozenset({"https", "amqps", "rediss", "unix"})
# The parameter by which an address names the file with the authorities of its server.
_AUTHORITIES: Final = {"amqps": "cafile", "rediss": "ssl_ca_certs", "postgresql": "sslrootcert"}
# Parameters by which a client accepts any certificate.
_UNVERIFIED: Final = {"amqps": ("no_verify_ssl", "1"), "rediss": ("ssl_cert_reqs", "none")}


def is_plain_address(url: str) -> bool:
    """Return whether traffic to the address goes to another machine without verified TLS."""
    parts = urlsplit(url)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    host = parts.hostname or query.get("host", "")
    if not host or host.startswith("/") or _is_loopback(host):
        return False
    if parts.scheme.startswith("postgres"):
        return query.get("sslmode") != "verify-full"
    name, value = _UNVERIFIED.get(parts.scheme, ("", ""))
    return parts.scheme not in _ENCRYPTED or query.get(name) == value != ""


def authorities_of(url: str) -> str:
    """Return the file of certificate authorities that an address names; empty when it names none."""
    parts = urlsplit(url)
    name = _AUTHORITIES.get("postgresql" if parts.scheme.startswith("postgres") else parts.scheme, "")
    return parse_qs(parts.query).get(name, [""])[-1]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

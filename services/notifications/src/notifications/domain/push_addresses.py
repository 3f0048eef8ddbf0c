"""Which addresses a push may go to: a browser names them, so they must not lead into our own network."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

# Longer than any push service makes them, and within what an index of the database holds.
ADDRESS_MAX: Final = 2_048


def endpoint_fault(endpoint: str, trusted_origin: str) -> str | None:
    """Why a subscription's endpoint is refused; None when it is not. `trusted_origin` is the push service of our settings."""
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return "is not a valid address"
    host = (parts.hostname or "").rstrip(".")
    if origin_of(endpoint) == trusted_origin and trusted_origin:
        return None
    if parts.scheme != "https":
        return "must be an https address"
    if not host or parts.username is not None or parts.password is not None or parts.fragment:
        return "is not a valid address"
    if port not in (None, 443):
        return "must use the usual port"
    if "." not in host or host.endswith((".local", ".internal", ".localhost", ".home.arpa")) or _is_number(host):
        return "must name a public host"
    return None


def origin_of(address: str) -> str:
    """`https://host:port` of an address; empty for something that is none."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    if not parts.hostname or parts.username is not None:
        return ""
    shown = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")


def is_public(address: str) -> bool:
    """Whether an IP address lies in the public internet."""
    try:
        number = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = getattr(number, "ipv4_mapped", None)
    return (inner or number).is_global and not (inner or number).is_multicast


def _is_number(host: str) -> bool:
    """Push services have names; an address in figures, however written, leads where its writer wants."""
    last = host.rpartition(".")[2]
    return ":" in host or last.isdigit() or last.startswith("0x")

"""Which addresses a push may go to: a browser names them, so they must not lead into our own network."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

# Longer than any push service makes them, and within what an index of the database holds.
ADDRESS_MAX: Final = 2_048

Number = ipaddress.IPv4Address | ipaddress.IPv6Address
# Where a number of the old internet stands within one of the new: translated (RFC 6052, 8215, 2765) or written as if it were (RFC 4291).
_HOLDING_OLD: Final = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")))


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
    return all(one.is_global and not one.is_multicast and not _is_of_a_site(one) for one in _meant(number))


def _meant(number: Number) -> list[Number]:
    """Where a call to the number may end: a translator on its way sends it on to the number within."""
    if isinstance(number, ipaddress.IPv4Address):
        return [number]
    if number.ipv4_mapped is not None:
        return [number.ipv4_mapped]
    within: list[Number] = [number.sixtofour] if number.sixtofour is not None else []
    if any(number in network for network in _HOLDING_OLD):
        within.append(ipaddress.IPv4Address(int(number) & 0xFFFF_FFFF))
    return [number, *within]


def _is_of_a_site(number: Number) -> bool:
    """Such addresses (RFC 3879) are given out no more, and still routed here and there."""
    return isinstance(number, ipaddress.IPv6Address) and number.is_site_local


def _is_number(host: str) -> bool:
    """Push services have names; an address in figures, however written, leads where its writer wants."""
    last = host.rpartition(".")[2]
    return ":" in host or last.isdigit() or last.startswith("0x")

"""The rules for addresses that clients register: the form of the address, and the IP addresses of its name.

Pure: `notifications.clients.outbound` resolves names and calls. The ranges are those of the IANA special-purpose
address registries.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

# Longer than the addresses of any push service, and within the limit of a database index.
ADDRESS_MAX: Final = 2_048

# Labels of letters, digits and hyphens (RFC 1123), at least two; names in other alphabets use punycode.
_NAME: Final = re.compile(
    r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII
)
# Below are the ports of system services.
_HIGH_PORT_MIN: Final = 1_024
_LOCAL_NAMES: Final = (".local", ".internal", ".localhost", ".home.arpa")
_REFUSED_4: Final = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        # The metadata service of Azure has a public address.
        "168.63.129.16/32",
    )
)
# The only assigned global range. Outside it: loopback, link-local, unique local, mapped, and NAT64 translation.
_GLOBAL_6: Final = ipaddress.IPv6Network("2000::/3")
_REFUSED_6: Final = tuple(
    # Protocol assignments with Teredo; documentation; 6to4, which embeds an IPv4 address.
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


@dataclass(frozen=True, slots=True)
class OutboundRules:
    """`trusted_origin` comes from our own settings and is not checked.

    `allow_loopback` is for development: it allows loopback addresses, also by http and at any port. `allow_high_ports`
    allows ports from 1024.
    """

    trusted_origin: str = ""
    allow_loopback: bool = False
    allow_high_ports: bool = False

    def trusts(self, url: str) -> bool:
        """Return whether the address belongs to the trusted origin."""
        return bool(self.trusted_origin) and origin_of(url) == self.trusted_origin

    def fault_of(self, url: str) -> str | None:
        """Return the reason why the form of an address is not allowed; None when it is."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return "is not a valid address"
        if self.trusts(url):
            return None
        host = (parts.hostname or "").rstrip(".")
        is_loopback = self.allow_loopback and (host == "localhost" or _is_loopback(host))
        if parts.scheme != "https" and not (is_loopback and parts.scheme == "http"):
            return "must be an https address"
        if not host or parts.username is not None or parts.password is not None or parts.fragment:
            return "is not a valid address"
        if is_loopback:
            return None
        if port not in (None, 443) and not (self.allow_high_ports and port >= _HIGH_PORT_MIN):
            return "must use the usual port" if not self.allow_high_ports else "must use port 443, or one from 1024"
        if _NAME.fullmatch(host) is None or host.endswith(_LOCAL_NAMES) or _is_number(host):
            return "must name a public host"
        return None

    def allows(self, number: str, scheme: str) -> bool:
        """Return whether a call by that scheme may connect to the IP address; http is limited to loopback."""
        if self.allow_loopback and _is_loopback(number):
            return True
        return scheme == "https" and is_public(number)


def origin_of(address: str) -> str:
    """`https://host:port` of an address; empty for a malformed one."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return ""
    if not parts.hostname or parts.username is not None:
        return ""
    shown = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")


def is_public(number: str) -> bool:
    """Return whether an IP address is public unicast. Addresses that translate to IPv4 are not."""
    try:
        address = ipaddress.ip_address(number)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    return address in _GLOBAL_6 and not any(address in network for network in _REFUSED_6)


def _is_loopback(number: str) -> bool:
    try:
        return ipaddress.ip_address(number).is_loopback
    except ValueError:
        return False


def _is_number(host: str) -> bool:
    """Return whether a host is an IP address in any notation; public services have names."""
    last = host.rpartition(".")[2]
    return ":" in host or last.isdigit() or last.startswith("0x")

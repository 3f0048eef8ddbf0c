"""Addresses of providers of payments and messages, and hosts that cannot be one of them."""

import ipaddress
from typing import Final

PROVIDER_ADDRESSES: Final = (
    "GATEWAY_API_URL",
    "FLUTTERWAVE_API_URL",
    "SMS_API_URL",
    "SMS_FALLBACK_API_URL",
    "MESSAGING_API_URL",
    "PUSH_API_URL",
    "FCM_TOKEN_URL",
)
"""Settings with the address of a company's API. Mail, alerts, images and the language model may be served within the
own network.
"""


def is_of_development(host: str) -> bool:
    """Return whether a host can only be this machine, a private network or an example."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        last = host.lower().rpartition(".")[2]
        return "." not in host or last in {"example", "invalid", "localhost", "local", "test", "internal"}

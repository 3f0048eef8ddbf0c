"""The address of the client, as the gateway forwards it (decision 93)."""

from typing import Final

from starlette.requests import Request

CLIENT_ADDRESS: Final = "x-client-address"
"""Set by the gateway in requests that name their caller in the body. The gateway passes no header of this name on, and
the network admits only our own processes to a service.
"""

# The longest form is an IPv6 network, `ffff:ffff:ffff:ffff::/64`.
_CHARACTERS_MAX: Final = 64


def client_address_of(request: Request) -> str:
    """Return the IPv4 address or IPv6 /64 of the client. Without the header all clients are one source, the strictest
    case.
    """
    return request.headers.get(CLIENT_ADDRESS, "")[:_CHARACTERS_MAX]

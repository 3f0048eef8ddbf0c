"""The client of a running marketplace for tests that send thousands of requests."""

from collections.abc import Callable, Mapping
from typing import Final

import httpx

from common.primitives.tls import client_tls
from common.web.provider_client import AiohttpTransport
from operations.journey import Marketplace

_RESPONSE_SECONDS_MAX: Final = 30.0
_CONNECTIONS_MAX: Final = 200


def marketplace_at(
    base_url: str,
    sandbox_url: str,
    secrets: Mapping[str, str],
    *,
    patient: bool = False,
    client: Callable[..., httpx.AsyncClient] = httpx.AsyncClient,
) -> Marketplace:
    """Connect to the system at these addresses, as `Marketplace.at` does. `client` reaches the API.

    Over httpx's own connections a call takes five times the CPU when sixteen of them are open.
    """
    at_api, at_sandbox = (AiohttpTransport(_CONNECTIONS_MAX, trust_env=False, tls=client_tls()) for _ in range(2))
    return Marketplace(
        client(base_url=base_url, timeout=_RESPONSE_SECONDS_MAX, transport=at_api),
        httpx.AsyncClient(base_url=sandbox_url, timeout=_RESPONSE_SECONDS_MAX, transport=at_sandbox),
        secrets,
        patient,
    )

"""Classification of a provider's HTTP responses."""

from typing import Any, Final

import httpx

from notifications.domain.errors import ProviderTimeout, ProviderUnavailable

# Permanent rejections. Other statuses may pass: operators fix a wrong key (401).
PERMANENT_STATUSES: Final = frozenset({400, 404, 413, 422})
# The request never reached the provider, so another provider may be used.
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def request_fault(provider: str, error: httpx.HTTPError) -> ProviderUnavailable:
    """Return the fault of a call without a response."""
    kind = ProviderUnavailable if isinstance(error, _NEVER_SENT) else ProviderTimeout
    return kind(provider, type(error).__name__)


def json_object(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON object of a response; empty for anything else."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}

"""Classification of a provider's HTTP responses."""

from email.utils import parsedate_to_datetime
from typing import Final

import httpx

from notifications.deliveries.domain.errors import ProviderTimeout, ProviderUnavailable

# A provider that requests a longer pause is probed earlier; messages lose their value by then.
RETRY_AFTER_SECONDS_MAX: Final = 900
# The request never reached the provider, so another provider may be used.
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def request_fault(provider: str, error: httpx.HTTPError) -> ProviderUnavailable:
    """Return the fault of a call without a response."""
    kind = ProviderUnavailable if isinstance(error, _NEVER_SENT) else ProviderTimeout
    return kind(provider, type(error).__name__)


def retry_after_seconds(response: httpx.Response) -> int | None:
    """Return the provider's Retry-After in seconds within limits; None without one (RFC 9110, 10.2.3).

    A date counts from the provider's own clock, its `Date`.
    """
    given = response.headers.get("retry-after", "").strip()
    if given.isascii() and given.isdigit():
        return min(int(given[:9]), RETRY_AFTER_SECONDS_MAX)
    try:
        wait = parsedate_to_datetime(given) - parsedate_to_datetime(response.headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(0, min(int(wait.total_seconds()), RETRY_AFTER_SECONDS_MAX))

"""What a provider's HTTP answer means for a message."""

from typing import Any, Final

import httpx

from notifications.domain.errors import ProviderTimeout, ProviderUnavailable

# What will never be taken however often it is offered. Everything else may pass: a wrong key (401) is put right by people.
REFUSALS: Final = frozenset({400, 404, 413, 422})
# The request never reached the provider, so that another may be asked without saying the same twice.
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def no_response(provider: str, error: httpx.HTTPError) -> ProviderUnavailable:
    """The fault of a call that had no answer."""
    kind = ProviderUnavailable if isinstance(error, _NEVER_SENT) else ProviderTimeout
    return kind(provider, type(error).__name__)


def reported_in(answer: httpx.Response) -> dict[str, Any]:
    """The JSON object of an answer; empty for anything else."""
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}

"""The context of a service's HTTP layer, shared by routes and exception handlers."""

from dataclasses import dataclass

from starlette.requests import Request

from common.auth.tokens import TokenVerifier
from common.primitives.clock import Clock


@dataclass(frozen=True, slots=True)
class HttpContext:
    """The token verifier, clock and public address of a service; kept in `app.state.http`."""

    verifier: TokenVerifier
    clock: Clock
    base_url: str
    service_keys: tuple[str, ...] = ()


def context_of(request: Request) -> HttpContext:
    """Return the context of the application that serves this request."""
    context: HttpContext = request.app.state.http
    return context

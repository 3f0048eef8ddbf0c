"""Liveness, readiness and metrics, on the internal port (contract section 13)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from common.auth.guards import PUBLIC
from common.primitives.problems import Unavailable
from common.primitives.waiting import NoResponse, bounded
from common.web.endpoints import Endpoints
from common.web.exception_handlers import problem_response
from common.web.http import ok
from common.web.response_models import ResponseModel

# All checks run at once, and a probe is answered within 2 s (contract section 13), also on a busy machine.
CHECK_SECONDS_MAX: Final = 1.5


class Health(ResponseModel):
    """The state of this process, for probes."""

    status: Literal["alive", "ready"]


Check = Callable[[], Awaitable[bool]]


def health_endpoints(serving: Mapping[str, Check], readiness: Mapping[str, Check]) -> Endpoints:
    """`/health/liveness`, `/health/serving`, `/health/readiness` (every named check must hold) and `/metrics`.

    `serving` decides whether requests are sent to this process. `readiness` contains it, and what a person must know.
    """
    endpoint = Endpoints("operations")
    checks_by_path = {"/health/serving": serving, "/health/readiness": {**serving, **readiness}}

    @endpoint("GET", "/health/liveness", allow=PUBLIC, documented=False)
    async def liveness(request: Request) -> Response:
        return ok(request, Health(status="alive"))

    @endpoint("GET", "/health/serving", allow=PUBLIC, documented=False)
    @endpoint("GET", "/health/readiness", allow=PUBLIC, documented=False)
    async def ready(request: Request) -> Response:
        checks = checks_by_path[request.url.path]
        held = await asyncio.gather(*(_holds(check) for check in checks.values()))
        failed = [name for name, holds in zip(checks, held, strict=True) if not holds]
        if failed:
            # Returned, not raised: a starting process fails many of these checks, and none should be logged.
            return problem_response(request, Unavailable(f"Not ready: {', '.join(sorted(failed))}."))
        return ok(request, Health(status="ready"))

    @endpoint("GET", "/metrics", allow=PUBLIC, documented=False)
    async def metrics(request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return endpoint


async def _holds(check: Check) -> bool:
    """Return whether a check holds; a dependency that is away or does not answer fails it."""
    try:
        return await bounded(check(), CHECK_SECONDS_MAX)
    except (NoResponse, Unavailable):
        return False

"""Liveness, readiness and metrics, on the internal port (contract section 13)."""

from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response

from common.primitives.problems import Unavailable
from common.web.exception_handlers import problem_response
from common.web.http import guarded_router, ok, public

Check = Callable[[], Awaitable[bool]]


def health_router(checks: Callable[[Request], Mapping[str, Check]]) -> APIRouter:
    """`/health/liveness`, `/health/readiness` (every named check must hold) and `/metrics`."""
    router = guarded_router(include_in_schema=False)

    @router.get("/health/liveness")
    @public
    async def liveness(request: Request) -> Response:
        return ok(request, {"status": "alive"})

    @router.get("/health/readiness")
    @public
    async def readiness(request: Request) -> Response:
        failed = [name for name, check in checks(request).items() if not await check()]
        if failed:
            # Returned, not raised: a starting process fails many of these checks, and none should be logged.
            return problem_response(request, Unavailable(f"Not ready: {', '.join(sorted(failed))}."))
        return ok(request, {"status": "ready"})

    @router.get("/metrics")
    @public
    async def metrics(request: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return router

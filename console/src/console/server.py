"""The process of the console: screens on the public port, health and metrics on the internal one."""

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common.observability import logging, telemetry
from common.process.server import serve, serve_internal
from common.web.request_scope import RequestScope
from console.app import SERVICE, Console
from console.settings import Settings


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ready"})


async def _metrics(_: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def internal_app() -> Starlette:
    """Health and metrics. Readiness concerns this process alone: the API's absence is shown on every page."""
    return Starlette(
        routes=[
            Route("/health/liveness", _health),
            Route("/health/readiness", _health),
            Route("/metrics", _metrics),
        ]
    )


async def run_console() -> None:
    """Serve until SIGTERM or SIGINT: screens on the public port, health and metrics on the internal one."""
    settings = Settings.from_environment()
    logging.start(SERVICE, settings.log_level)
    telemetry.start(SERVICE)
    console = Console(settings)
    app = RequestScope(console.app())
    try:
        await serve(
            app,
            settings,
            [
                serve_internal(internal_app(), settings, settings.metrics_port),
                telemetry.watch_event_loop(),
            ],
            on_stop=[app.start_draining, console.streams.stop],
        )
    finally:
        await console.close()
        telemetry.stop()

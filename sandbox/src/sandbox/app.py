"""The application: routes, error responses, and the background workers of one running sandbox."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from sandbox.control.routes import ROUTES as CONTROL_ROUTES
from sandbox.database import Database
from sandbox.endpoints.serving import serve_endpoints
from sandbox.flutterwave.routes import ROUTES as FLUTTERWAVE_ROUTES
from sandbox.gateway import clearing
from sandbox.gateway.banks import seed_demo_accounts
from sandbox.gateway.routes import ROUTES as GATEWAY_ROUTES
from sandbox.settings import Settings
from sandbox.sinks.mail import serve_mail
from sandbox.sinks.routes import ROUTES as SINK_ROUTES
from sandbox.web import DateHeader, RefusedError, refused
from sandbox.world import build_world

log = logging.getLogger("sandbox")

# The delay before a failed worker restarts, so that a persistent failure does not fill the log.
RESTART_SECONDS = 1.0


def create_app(settings: Settings) -> Starlette:
    """Build the application; its lifespan opens the database and runs the webhook sender and the clearing."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
        database = Database(settings.state_dir / "sandbox.db", settings.opening_balance_minor)
        seed_demo_accounts(database)
        world = app.state.world = build_world(settings, database)
        mail_server = await serve_mail(world)
        workers = [
            asyncio.create_task(keep_running("webhook sender", world.webhook_sender.run)),
            asyncio.create_task(keep_running("clearing", lambda: clearing.run(world))),
        ]
        try:
            async with serve_endpoints(world):
                yield
        finally:
            mail_server.close()
            for worker in workers:
                worker.cancel()
            for worker in workers:
                with suppress(asyncio.CancelledError):
                    await worker
            database.close()

    return Starlette(
        routes=[*GATEWAY_ROUTES, *FLUTTERWAVE_ROUTES, *SINK_ROUTES, *CONTROL_ROUTES],
        lifespan=lifespan,
        middleware=[Middleware(DateHeader)],
        exception_handlers={RefusedError: respond_rejection, HTTPException: respond_http_error},
    )


async def keep_running(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Run a background worker until it is cancelled; an unexpected error is logged and the worker starts again."""
    while True:
        try:
            await run()
        except Exception:
            log.exception("the %s failed, restarting", name)
        await asyncio.sleep(RESTART_SECONDS)


async def respond_rejection(_request: Request, problem: Exception) -> Response:
    if not isinstance(problem, RefusedError):
        raise problem
    return refused(problem.status, problem.message, problem.code)


async def respond_http_error(_request: Request, problem: Exception) -> Response:
    if not isinstance(problem, HTTPException):
        raise problem
    return refused(problem.status_code, problem.detail)

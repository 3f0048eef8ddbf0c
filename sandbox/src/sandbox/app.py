"""The application: routes, the rendering of refusals, and the background workers of one running sandbox."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sandbox.book import Book
from sandbox.control.routes import ROUTES as CONTROL_ROUTES
from sandbox.gateway import clearing
from sandbox.gateway.banks import seed_demo_accounts
from sandbox.gateway.routes import ROUTES as GATEWAY_ROUTES
from sandbox.settings import Settings
from sandbox.web import RefusedError, refused
from sandbox.world import build_world


def create_app(settings: Settings) -> Starlette:
    """Build the application; its lifespan opens the book and runs the courier and the clearing."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
        book = Book(settings.state_dir / "sandbox.db", settings.opening_balance_minor)
        seed_demo_accounts(book)
        world = app.state.world = build_world(settings, book)
        workers = [asyncio.create_task(world.courier.run()), asyncio.create_task(clearing.run(world))]
        try:
            yield
        finally:
            for worker in workers:
                worker.cancel()
            for worker in workers:
                with suppress(asyncio.CancelledError):
                    await worker
            book.close()

    return Starlette(
        routes=[*GATEWAY_ROUTES, *CONTROL_ROUTES],
        lifespan=lifespan,
        exception_handlers={RefusedError: answer_refusal, HTTPException: answer_http_error},
    )


async def answer_refusal(_request: Request, problem: Exception) -> Response:
    if not isinstance(problem, RefusedError):
        raise problem
    return refused(problem.status, problem.message)


async def answer_http_error(_request: Request, problem: Exception) -> Response:
    if not isinstance(problem, HTTPException):
        raise problem
    return refused(problem.status_code, problem.detail)

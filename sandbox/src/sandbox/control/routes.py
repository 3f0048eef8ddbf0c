"""Everything under /control, and the pages for developers."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from sandbox.control.charges import list_charges
from sandbox.control.documents import show_api, show_document
from sandbox.control.mailbox import show_inbox, show_mail
from sandbox.control.operations import OPERATIONS, PREFIX
from sandbox.control.traces import show_trace_list_page, show_trace_page
from sandbox.pages import render, show_asset
from sandbox.web import JsonResponse
from sandbox.world import world_of

UNPAID_ON_THE_START_PAGE = 10
PAYMENTS_ON_A_PAGE = 50


async def health(_request: Request) -> Response:
    return JsonResponse({"status": "ok"})


async def show_start(request: Request) -> Response:
    """Return what the sandbox is, what to click, and the transactions that wait for a payer."""
    database = world_of(request).database
    charges = list_charges(database, "abandoned", limit=UNPAID_ON_THE_START_PAGE)
    return render("start.html", current="/", charges=charges, balance_minor=database.balance_minor("NGN"))


async def show_payments(request: Request) -> Response:
    """Return the newest transactions, each with its payment page."""
    charges = list_charges(world_of(request).database, limit=PAYMENTS_ON_A_PAGE)
    return render("payments.html", current="/payments", charges=charges)


ROUTES = [
    Route("/health", health, methods=["GET"]),
    Route("/health/readiness", health, methods=["GET"]),
    Route("/", show_start, methods=["GET"]),
    Route("/inbox", show_inbox, methods=["GET"]),
    Route("/inbox/mail/{id}", show_mail, methods=["GET"]),
    Route("/payments", show_payments, methods=["GET"]),
    Route("/traces", show_trace_list_page, methods=["GET"]),
    Route("/traces/{trace_id}", show_trace_page, methods=["GET"]),
    Route("/api", show_api, methods=["GET"]),
    Route("/openapi.json", show_document, methods=["GET"]),
    Route("/assets/{name}", show_asset, methods=["GET"]),
    Mount(PREFIX, routes=[Route(one.path, one.handler, methods=[one.method]) for one in OPERATIONS]),
]

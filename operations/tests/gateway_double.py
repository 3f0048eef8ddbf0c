"""A payment gateway with a balance and lists, which responds as Paystack does, and under `/v3` as Flutterwave does."""

from dataclasses import dataclass, field
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

KEY: Final = "sk_test_audit"
LISTS: Final = ("transaction", "refund", "transfer", "dispute", "settlement")
_WITH_CURSOR: Final = ("transaction", "transfer")
SECOND_LISTS: Final = tuple(
    f"v3/{name}" for name in ("transactions", "refunds", "transfers", "chargebacks", "settlements")
)
SECOND_PAGE: Final = 10
_FILTERS: Final = ("tx_ref", "reference", "flw_ref")


@dataclass
class GatewayDouble:
    """`lists` by path. `queried` by path: what a query about one object returns. `responses` are returned first."""

    balance_minor: int = 0
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    queried: dict[str, dict[str, Any]] = field(default_factory=dict)
    responses: list[Response] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    async def respond(self, request: Request) -> Response:
        path = request.url.path.strip("/")
        self.requests.append(f"{path}?{request.url.query}")
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"status": False}, 401)
        if self.responses:
            return self.responses.pop(0)
        if path == "balance":
            return JSONResponse({"status": True, "data": [{"currency": "NGN", "balance": self.balance_minor}]})
        if path == "v3/balances/NGN":
            return JSONResponse({"status": "success", "data": {"ledger_balance": 0}})
        if path in SECOND_LISTS:
            return self._second_page(path, request)
        if path not in LISTS:
            found = self.queried.get(path)
            return JSONResponse({"status": found is not None, "data": found}, 404 if found is None else 200)
        query = request.query_params
        length = int(query["perPage"])
        start = int(query.get("next") or (int(query.get("page") or 1) - 1) * length)
        listed = self.lists.get(path, [])
        following = str(start + length) if path in _WITH_CURSOR and start + length < len(listed) else None
        return JSONResponse({"status": True, "data": listed[start : start + length], "meta": {"next": following}})

    def _second_page(self, path: str, request: Request) -> Response:
        """Return the second page. A row of `queried` is what a filtered list shows, newer than the list."""
        filters = {name: request.query_params[name] for name in _FILTERS if name in request.query_params}
        rows = [self.queried[path]] if filters and path in self.queried else self.lists.get(path, [])
        rows = [row for row in rows if all(row.get(name) == value for name, value in filters.items())]
        page = int(request.query_params.get("page", 1))
        info = {"total": len(rows), "current_page": page, "total_pages": -(-len(rows) // SECOND_PAGE)}
        listed = rows[(page - 1) * SECOND_PAGE : page * SECOND_PAGE]
        return JSONResponse({"status": "success", "data": listed, "meta": {"page_info": info}})

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self.respond)])

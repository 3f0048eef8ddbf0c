"""A stand-in for the DNS provider: the part of Cloudflare's API v4 that cert-manager calls, and the check of a
token.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import web

ZONE: Final = "campus.example"
_ZONE_ID: Final = "023e105f4ecef8ad9ca31a8372d0c353"


@dataclass
class DnsProvider:
    """`tokens`: the valid ones. `without_zones` may not read the zone, `without_records` not write it."""

    tokens: set[str]
    url: str = ""
    without_zones: set[str] = field(default_factory=set)
    without_records: set[str] = field(default_factory=set)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    """The number of records that each token has written."""

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/client/v4/user/tokens/verify", self._verify)
        app.router.add_get("/client/v4/zones", self._zones)
        app.router.add_post(f"/client/v4/zones/{_ZONE_ID}/dns_records", self._write)
        app.router.add_delete(f"/client/v4/zones/{_ZONE_ID}/dns_records/{{id}}", self._delete)
        return app

    async def _verify(self, request: web.Request) -> web.Response:
        if _token_of(request) not in self.tokens:
            return _failed(401, 1000, "Invalid API Token")
        return _succeeded({"id": "ed17574386854bf78a67040be0a770b0", "status": "active"})

    async def _zones(self, request: web.Request) -> web.Response:
        token = _token_of(request)
        if token not in self.tokens:
            return _failed(403, 9109, "Invalid access token")
        # A zone that a token may not read is left out.
        is_found = token not in self.without_zones and request.query.get("name") == ZONE
        return _succeeded([{"id": _ZONE_ID, "name": ZONE}] if is_found else [])

    async def _write(self, request: web.Request) -> web.Response:
        token = _token_of(request)
        if token not in self.tokens - self.without_records:
            return _failed(403, 10000, "Authentication error")
        self.written[token] = self.written.get(token, 0) + 1
        number = f"{sum(self.written.values()):032x}"
        self.records[number] = {**await request.json(), "id": number}
        return _succeeded(self.records[number])

    async def _delete(self, request: web.Request) -> web.Response:
        if _token_of(request) not in self.tokens - self.without_records:
            return _failed(403, 10000, "Authentication error")
        if self.records.pop(request.match_info["id"], None) is None:
            return _failed(404, 81044, "Record does not exist.")
        return _succeeded({"id": request.match_info["id"]})


@asynccontextmanager
async def dns_provider(*tokens: str) -> AsyncIterator[DnsProvider]:
    """Serve the stand-in, which accepts these tokens."""
    provider = DnsProvider(set(tokens))
    runner = web.AppRunner(provider.application(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}/client/v4"
    try:
        yield provider
    finally:
        await runner.cleanup()


def _token_of(request: web.Request) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


def _succeeded(result: Any) -> web.Response:
    return web.json_response({"success": True, "errors": [], "messages": [], "result": result})


def _failed(status: int, code: int, message: str) -> web.Response:
    errors = [{"code": code, "message": message}]
    return web.json_response({"success": False, "errors": errors, "messages": [], "result": None}, status=status)

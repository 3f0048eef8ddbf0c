"""The gateway, compared with nginx and with a FastAPI and httpx proxy before the same upstream."""

from collections.abc import Callable

from common.auth.caller import Caller
from common.primitives.ids import new_id
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment, BenchProcess, nginx
from lab.bench.figures import Goal, Reading, Row, Run
from testkit.service_kit import BASE_URL

_TOKENS = 64
_CONNECTIONS = 32
_GET = "/api/orders"
_POST = "/api/orders/checkout"


async def measure(bench: BenchEnvironment) -> list[Row]:
    callers = [Caller(user_id=new_id(), roles=frozenset({"buyer"})) for _ in range(_TOKENS)]
    tokens = [bench.token(caller) for caller in callers]
    async with (
        bench.start_process("lab.bench.upstream") as upstream,
        bench.start_process(
            "api_gateway",
            "api",
            service="api-gateway",
            ORDERS_URL=upstream.url,
            JWKS_URL=bench.issuer.jwks_url,
            BASE_URL=BASE_URL,
        ) as gateway,
        bench.start_process("lab.bench.bare_proxy", UPSTREAM_URL=upstream.url) as bare,
        nginx(bench, upstream_url=upstream.url, page=b"{}") as limit,
    ):

        def loading(server: BenchProcess, path: str, script: Callable[[list[str]], str]) -> Run:
            meter = Meter([server.pid])

            async def run(seconds: float) -> Reading:
                return await bench.load(
                    server.url + path, seconds, meter, script=script(tokens), connections=_CONNECTIONS
                )

            return run

        return [
            await bench.compare(
                f"gateway, {what}",
                loading(gateway, path, script),
                named,
                loading(reference, path, script),
                Goal("ratio", bound, unit="x"),
                measured="cpu",
            )
            for what, path, script, of_nginx in (
                ("authenticated GET", _GET, reading, 5),
                ("POST with a fresh key", _POST, writing, 8),
            )
            for named, reference, bound in (
                ("nginx proxy_pass", limit, of_nginx),
                # The gateway with authentication, quotas and metrics costs no more than a proxy without them.
                ("FastAPI + httpx, which only pass it on", bare, 1),
            )
        ]


def reading(tokens: list[str]) -> str:
    """Lua for GET requests with the tokens of the users in turn."""
    return _LUA.format(
        tokens=", ".join(f'"{token}"' for token in tokens),
        request='wrk.format("GET", nil, {["Authorization"] = "Bearer " .. tokens[n % #tokens + 1]})',
        key="",
    )


def writing(tokens: list[str], bodies: list[str] | None = None) -> str:
    """Lua for POST requests, each with a new idempotency key and one of `bodies` at random."""
    texts = bodies or ['{"items":[{"productId":"018cc251-f400-7005-8000-000000000001","quantity":1}]}']
    stamp = new_id().hex
    return _LUA.format(
        tokens=", ".join(f'"{token}"' for token in tokens),
        key=f"local bodies = {{{', '.join(f'[[{text}]]' for text in texts)}}}\n",
        request=(
            'wrk.format("POST", nil, {["Authorization"] = "Bearer " .. tokens[n % #tokens + 1], '
            '["Content-Type"] = "application/json", '
            '["Idempotency-Key"] = '
            f'string.format("{stamp[:8]}-{stamp[8:12]}-4{stamp[20:23]}-8{stamp[23:26]}-%012x", n)}}, '
            "bodies[math.random(#bodies)])"
        ),
    )


_LUA = """\
local tokens = {{{tokens}}}
{key}local n = 0
request = function()
  n = n + 1
  return {request}
end
"""

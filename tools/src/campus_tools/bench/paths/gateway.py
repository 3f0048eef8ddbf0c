"""The gateway beside nginx, both in front of the same tiny upstream."""

from campus_tools.bench.cpu import Meter
from campus_tools.bench.figures import Goal, Reading, Row, alternate
from campus_tools.bench.stage import Stage, nginx
from campus_tools.service_kit import BASE_URL
from common.caller import Caller
from common.ids import new_id

_TOKENS = 64
_CONNECTIONS = 32
_GET = "/api/orders"
_POST = "/api/orders/checkout"


async def measure(stage: Stage) -> list[Row]:
    callers = [Caller(user_id=new_id(), roles=frozenset({"buyer"})) for _ in range(_TOKENS)]
    tokens = [stage.token(caller) for caller in callers]
    async with (
        stage.beside("campus_tools.bench.upstream") as upstream,
        stage.beside(
            "api_gateway",
            "api",
            service="api-gateway",
            ORDERS_URL=upstream.url,
            JWKS_URL=stage.issuer.jwks_url,
            BASE_URL=BASE_URL,
        ) as gateway,
        nginx(stage, upstream_url=upstream.url, page=b"{}") as limit,
    ):
        gateway_meter, nginx_meter = Meter([gateway.pid]), Meter([limit.pid])

        async def read(seconds: float) -> Reading:
            return await stage.load(
                gateway.url + _GET, seconds, gateway_meter, script=reading(tokens), connections=_CONNECTIONS
            )

        async def read_limit(seconds: float) -> Reading:
            return await stage.load(
                limit.url + _GET, seconds, nginx_meter, script=reading(tokens), connections=_CONNECTIONS
            )

        async def write(seconds: float) -> Reading:
            return await stage.load(
                gateway.url + _POST, seconds, gateway_meter, script=writing(tokens), connections=_CONNECTIONS
            )

        async def write_limit(seconds: float) -> Reading:
            return await stage.load(
                limit.url + _POST, seconds, nginx_meter, script=writing(tokens), connections=_CONNECTIONS
            )

        return [
            await alternate(
                path="gateway, authenticated GET",
                run=read,
                limit="nginx proxy_pass",
                run_limit=read_limit,
                measured="cpu",
                effort=stage.effort,
                goals=[Goal("ratio", 5, unit="x")],
            ),
            await alternate(
                path="gateway, POST with a fresh key",
                run=write,
                limit="nginx proxy_pass",
                run_limit=write_limit,
                measured="cpu",
                effort=stage.effort,
                goals=[Goal("ratio", 8, unit="x")],
            ),
        ]


def reading(tokens: list[str]) -> str:
    """A GET with the next person's token each time."""
    return _LUA.format(
        tokens=", ".join(f'"{token}"' for token in tokens),
        request='wrk.format("GET", nil, {["Authorization"] = "Bearer " .. tokens[n % #tokens + 1]})',
        key="",
    )


def writing(tokens: list[str], bodies: list[str] | None = None) -> str:
    """A POST under an idempotency key that was never used. Of `bodies` one is drawn each time."""
    texts = bodies or ['{"items":[{"productId":"018cc251-f400-7005-8000-000000000001","quantity":1}]}']
    stamp = new_id().hex
    return _LUA.format(
        tokens=", ".join(f'"{token}"' for token in tokens),
        key=f"local bodies = {{{', '.join(f'[[{text}]]' for text in texts)}}}\n",
        request=(
            'wrk.format("POST", nil, {["Authorization"] = "Bearer " .. tokens[n % #tokens + 1], '
            '["Content-Type"] = "application/json", '
            f'["Idempotency-Key"] = string.format("{stamp[:8]}-{stamp[8:12]}-4{stamp[20:23]}-8{stamp[23:26]}-%012x", n)}}, '
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

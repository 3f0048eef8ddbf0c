"""The load balancer: TLS in front of the marketplace's API gateway, as a provider meets it."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientError, ClientSession, ClientTimeout, web

from sandbox.endpoints.certificates import ServerCertificates
from sandbox.web import BODY_BYTES_MAX
from sandbox.world import World

# Headers of one connection (RFC 9110, 7.6.1); lengths are set again.
OF_A_CONNECTION = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"}
)
FORWARD_SECONDS_MAX = 60.0


@asynccontextmanager
async def serve_load_balancer(world: World, certificates: ServerCertificates) -> AsyncIterator[None]:
    """Listen on LOAD_BALANCER_PORT, forward to LOAD_BALANCER_UPSTREAM, and choose the certificate at each handshake."""
    settings = world.settings

    def choose_certificate(connection: ssl.SSLObject, _host: str | None, _context: ssl.SSLContext) -> None:
        connection.context = certificates.in_state(world.faults.state("load_balancer", "certificate"))

    context = certificates.in_state("none")
    context.sni_callback = choose_certificate
    async with ClientSession(timeout=ClientTimeout(FORWARD_SECONDS_MAX), auto_decompress=False) as session:

        async def respond(request: web.Request) -> web.StreamResponse:
            state = world.faults.state("load_balancer", "webhook") if request.method == "POST" else "forwarded"
            if state != "forwarded":
                return web.json_response({"message": "Set by a fault of the sandbox"}, status=int(state))
            return await _forward(session, settings.load_balancer_upstream, request)

        app = web.Application(client_max_size=BODY_BYTES_MAX)
        app.router.add_route("*", "/{path:.*}", respond)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, settings.host, settings.load_balancer_port, ssl_context=context).start()
        try:
            yield
        finally:
            await runner.cleanup()


async def _forward(session: ClientSession, upstream: str, request: web.Request) -> web.StreamResponse:
    headers = [(name, value) for name, value in request.headers.items() if name.lower() not in OF_A_CONNECTION]
    try:
        async with session.request(
            request.method,
            f"{upstream}{request.raw_path}",
            headers=headers,
            data=await request.read(),
            allow_redirects=False,
        ) as reply:
            kept = [(name, value) for name, value in reply.headers.items() if name.lower() not in OF_A_CONNECTION]
            return web.Response(status=reply.status, headers=kept, body=await reply.read())
    except ClientError:
        return web.Response(status=502, text="Bad Gateway")

"""The endpoints of a running sandbox; each is served only where its port is set."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sandbox.endpoints.certificates import Authority, ServerCertificates
from sandbox.endpoints.load_balancer import serve_load_balancer
from sandbox.endpoints.name_server import serve_name_server
from sandbox.sinks.mail import serve_submission
from sandbox.world import World


@asynccontextmanager
async def serve_endpoints(world: World) -> AsyncIterator[None]:
    """Serve TLS with certificates of the authority in STATE_DIR, and DNS."""
    settings = world.settings
    async with AsyncExitStack() as stack:
        if settings.load_balancer_port or settings.submission_port:
            certificates = ServerCertificates(Authority.in_folder(settings.state_dir))
            if settings.load_balancer_port:
                await stack.enter_async_context(serve_load_balancer(world, certificates))
            if settings.submission_port:
                stack.callback((await serve_submission(world, certificates)).close)
        if settings.name_server_port:
            stack.callback((await serve_name_server(world)).close)
        yield

"""The composition root of the payments service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from common.logging import get_logger
from common.process import Loop, Runtime, Service
from payments.clients.gateway import PaymentGateway
from payments.consumers import SUBSCRIPTIONS, WORK
from payments.dependencies import Dependencies
from payments.routes import ROUTERS
from payments.settings import Settings
from payments.timers import ASK_EVERY_SECONDS, settle_refunds_once

log = get_logger(__name__)


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Settings to dependencies. An empty webhook secret is said aloud: every webhook will be refused."""
    if not settings.webhook_secrets:
        log.critical("GATEWAY_SECRET_KEY is empty: every payment webhook is answered 401 until it is set")
    gateway = PaymentGateway(settings.gateway_api_url, settings.gateway_secret_key)
    try:
        yield Dependencies(
            clock=runtime.clock,
            database=runtime.database,
            gateway=gateway,
            allowed_origins=settings.allowed_origins,
            webhook_secrets=settings.webhook_secrets,
        )
    finally:
        await gateway.close()


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    return [Loop("settle refunds", lambda: settle_refunds_once(dependencies), ASK_EVERY_SECONDS)]


SERVICE = Service(
    name="payments",
    settings=Settings,
    compose=compose,
    routers=ROUTERS,
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
)

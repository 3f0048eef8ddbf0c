"""Composition root of the notifications service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import httpx

from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.process import Loop, Runtime, Service
from common.sealing import Sealer
from common.tls import client_tls
from notifications.clients.mail import Mail
from notifications.clients.on_call import OnCall
from notifications.clients.sms import Sms
from notifications.consumers import SUBSCRIPTIONS, WORK
from notifications.domain.deliveries import PROVIDER_SECONDS_MAX
from notifications.routes import alerts, delivery_logs, feed, functions
from notifications.settings import Settings
from notifications.templates.words import Words
from notifications.timers import SWEEP_EVERY_SECONDS, resume_abandoned_once
from notifications.use_cases.deliver_notification import Desk
from notifications.use_cases.send_delivery import Carrier, Post


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What routes, consumers and timers work with."""

    clock: Clock
    database: Database
    cursors: CursorSigner
    post: Post
    on_call: OnCall

    def desk(self) -> Desk:
        """What writing a notification down needs, as of now."""
        return Desk(self.post.carriers.keys(), self.post.words, self.clock.now())


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """The carriers, the words and the keys, on what every process has open."""
    async with httpx.AsyncClient(timeout=PROVIDER_SECONDS_MAX, verify=client_tls()) as http:
        carriers: dict[str, Carrier] = {
            "sms": Sms(http, settings.sms_api_url, settings.sms_api_key, settings.sms_sender),
            "email": Mail(settings.smtp_url, settings.mail_from),
        }
        post = Post(runtime.database, runtime.clock, carriers, Words(), Sealer(settings.sealing_key))
        on_call = OnCall(http, settings.on_call_url, settings.on_call_key)
        yield Dependencies(runtime.clock, runtime.database, CursorSigner(settings.cursor_key), post, on_call)


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    """The sweep over what dead workers left."""
    return [
        Loop(
            "resume abandoned deliveries",
            lambda: resume_abandoned_once(dependencies.database, dependencies.clock),
            SWEEP_EVERY_SECONDS,
        )
    ]


SERVICE: Final = Service(
    name="notifications",
    settings=Settings,
    compose=compose,
    routers=[feed.router, functions.router, delivery_logs.router, alerts.router],
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
)

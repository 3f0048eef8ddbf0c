"""Composition root of the notifications service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import httpx

from common.circuit import CircuitLimits, Circuits
from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.process import Loop, Runtime, Service
from common.sealing import Sealer
from common.tls import client_tls
from notifications.carriers import compose_carriers
from notifications.clients.on_call import OnCall
from notifications.consumers import SUBSCRIPTIONS, WORK
from notifications.domain.deliveries import PROVIDER_SECONDS_MAX
from notifications.domain.push_addresses import origin_of
from notifications.routes import alerts, delivery_logs, devices, feed, functions, preferences, receipts
from notifications.settings import Settings
from notifications.templates.words import Words
from notifications.timers import (
    DUE_EVERY_SECONDS,
    SWEEP_EVERY_SECONDS,
    advance_pins_once,
    release_due_once,
    resume_abandoned_once,
)
from notifications.use_cases.deliver_notification import Desk
from notifications.use_cases.register_device import PushDoors
from notifications.use_cases.send_delivery import Post


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What routes, consumers and timers work with."""

    clock: Clock
    database: Database
    cursors: CursorSigner
    post: Post
    on_call: OnCall
    push_doors: PushDoors
    sms_receipt_key: str
    pin_receipt: timedelta

    def desk(self) -> Desk:
        """What writing a notification down needs, as of now."""
        post = self.post
        return Desk(post.channels, post.words, self.clock.now(), post.device_kinds, self.pin_receipt)


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """The carriers, the words and the keys, on what every process has open."""
    async with httpx.AsyncClient(timeout=PROVIDER_SECONDS_MAX, verify=client_tls()) as http:
        carriers = compose_carriers(settings, http, runtime.clock)
        limits = CircuitLimits(
            settings.provider_failures_max,
            timedelta(seconds=settings.provider_window_seconds),
            timedelta(seconds=settings.provider_rest_seconds),
        )
        post = Post(
            runtime.database,
            runtime.clock,
            carriers.by_channel,
            Words(),
            Sealer(settings.sealing_key),
            Circuits(runtime.clock, limits),
        )
        yield Dependencies(
            clock=runtime.clock,
            database=runtime.database,
            cursors=CursorSigner(settings.cursor_key),
            post=post,
            on_call=OnCall(http, settings.on_call_url, settings.on_call_key),
            push_doors=PushDoors(carriers.vapid_key, origin_of(settings.push_api_url), settings.devices_max),
            sms_receipt_key=settings.sms_receipt_key,
            pin_receipt=timedelta(seconds=settings.pin_receipt_seconds),
        )
        await carriers.close()


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    """The sweep over what dead workers left, and what waits for the clock."""
    return [
        Loop(
            "release due deliveries",
            lambda: release_due_once(dependencies.database, dependencies.clock),
            DUE_EVERY_SECONDS,
        ),
        Loop("send PINs on", lambda: advance_pins_once(dependencies), DUE_EVERY_SECONDS),
        Loop(
            "resume abandoned deliveries",
            lambda: resume_abandoned_once(dependencies.database, dependencies.clock),
            SWEEP_EVERY_SECONDS,
        ),
    ]


SERVICE: Final = Service(
    name="notifications",
    settings=Settings,
    compose=compose,
    routers=[
        feed.router,
        devices.router,
        preferences.router,
        functions.router,
        receipts.router,
        delivery_logs.router,
        alerts.router,
    ],
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
)

"""The components of the running sandbox, available to every request."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from sandbox.database import Database
from sandbox.faults import Faults
from sandbox.settings import Settings
from sandbox.switches import Switches, read_switches
from sandbox.webhook_sender import WebhookSender


@dataclass(slots=True)
class World:
    settings: Settings
    database: Database
    faults: Faults
    webhook_sender: WebhookSender
    switches: Switches
    # The accepted secret keys: the first one signs webhooks, all of them authenticate calls.
    gateway_keys: tuple[str, ...]
    flutterwave_keys: tuple[str, ...]
    # Set when a transfer or refund was created that settles automatically.
    clearing_wake: asyncio.Event = field(default_factory=asyncio.Event)


def build_world(settings: Settings, database: Database) -> World:
    webhook_sender = WebhookSender(database, settings)
    return World(
        settings,
        database,
        Faults(database),
        webhook_sender,
        read_switches(database),
        settings.gateway_keys,
        (settings.flutterwave_key,) if settings.flutterwave_key else (),
    )


def world_of(request: Request) -> World:
    world: World = request.app.state.world
    return world

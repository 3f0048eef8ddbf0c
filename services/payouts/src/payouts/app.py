"""Composition root of the payouts service."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import httpx

from common.clock import Clock
from common.cursors import CursorSigner
from common.database import Database
from common.process import Loop, Runtime, Service
from common.tls import client_tls
from payouts.clients.gateway import Gateway
from payouts.consumers import SUBSCRIPTIONS, WORK
from payouts.demo import load_demo_data
from payouts.domain.failure_rate import Watch
from payouts.measures import BOOK
from payouts.routes import ROUTERS
from payouts.settings import Settings
from payouts.store.account_numbers import AccountNumbers
from payouts.timers import measure_balance, request_scheduled_payouts, take_up_due_transfers, watch_payouts
from payouts.use_cases.check_sealing_key import check_sealing_key
from payouts.use_cases.seal_account_numbers import seal_account_numbers

# A transfer that became due waits at most this long; the queue `payouts.transfers` brings the urgent ones at once.
TAKE_UP_EVERY_SECONDS = 5.0
# How late after its hour a scheduled payout may be asked for.
ASK_EVERY_SECONDS = 15.0
# Account numbers of the release before sealing, and what its last processes still write while this one starts.
SEAL_EVERY_SECONDS = 30.0
# The rate of failing payouts and the banks' switches are looked at this often.
WATCH_EVERY_SECONDS = 5.0
# Our balance at the payment gateway is asked for this often; a dispatch asks for itself.
BALANCE_EVERY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What routes, consumers and timers of this service work with."""

    settings: Settings
    clock: Clock
    database: Database
    cursors: CursorSigner
    gateway: Gateway
    account_numbers: AccountNumbers

    @property
    def watch(self) -> Watch:
        """How the rate of failing payouts is watched."""
        settings = self.settings
        calm_for = timedelta(seconds=settings.payout_observation_calm_seconds)
        return Watch(settings.observation_window, settings.payout_observation_attempts_min, calm_for)

    @property
    def cooling(self) -> timedelta:
        """How long changed bank details wait for their first payout."""
        return timedelta(seconds=self.settings.bank_details_cooling_seconds)


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Opens the client of the payment gateway and puts the parts together."""
    numbers = AccountNumbers(settings.sealing_key)
    # A wrong SEALING_KEY must stop the start, not the first payout.
    await check_sealing_key(runtime.database, numbers)
    async with httpx.AsyncClient(
        base_url=settings.gateway_api_url.rstrip("/") + "/",
        headers={"Authorization": f"Bearer {settings.gateway_secret_key}"},
        timeout=settings.gateway_timeout_seconds,
        verify=client_tls(),
    ) as client:
        yield Dependencies(
            settings,
            runtime.clock,
            runtime.database,
            CursorSigner(settings.cursor_key),
            Gateway(client, settings.gateway_timeout_seconds, numbers.open),
            numbers,
        )


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    async def take_up() -> int:
        return await take_up_due_transfers(dependencies.database, dependencies.gateway, dependencies.clock)

    async def ask() -> int:
        minimum_minor = dependencies.settings.payout_minimum_minor
        return await request_scheduled_payouts(dependencies.database, minimum_minor, dependencies.clock)

    async def seal() -> int:
        return await seal_account_numbers(dependencies.database, dependencies.account_numbers)

    async def watch() -> None:
        await watch_payouts(dependencies.database, dependencies.clock, dependencies.watch)

    async def measure() -> None:
        await measure_balance(dependencies.gateway, dependencies.clock)

    return [
        Loop("gateway-balance", measure, BALANCE_EVERY_SECONDS),
        Loop("failure-rate", watch, WATCH_EVERY_SECONDS),
        Loop("due-transfers", take_up, TAKE_UP_EVERY_SECONDS),
        Loop("scheduled-payouts", ask, ASK_EVERY_SECONDS),
        *BOOK.loops(dependencies.database, dependencies.clock),
        Loop("open-account-numbers", seal, SEAL_EVERY_SECONDS),
    ]


async def verify_book_command(dependencies: Dependencies, *earlier: str) -> None:
    """`verify-book [<length> <head>]`: prints what the walk found; ends with status 1 and names the first broken row."""
    await BOOK.verify_by_command(dependencies.database, *earlier)


async def load_demo(dependencies: Dependencies) -> None:
    await load_demo_data(dependencies.database, dependencies.account_numbers, dependencies.clock)


SERVICE = Service(
    name="payouts",
    settings=Settings,
    compose=compose,
    routers=ROUTERS,
    subscriptions=SUBSCRIPTIONS,
    work_items=WORK,
    loops=loops,
    commands={"demo-data": load_demo, "verify-book": verify_book_command},
)

"""Composition root of the payouts service."""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import httpx

from common.auth.caller import THE_SERVICE
from common.database.hash_keys import ensure_hash_key
from common.database.reencryption import COMMAND as REENCRYPT
from common.database.reencryption import reencrypt_by_command
from common.database.retention import Rule
from common.documents.rendering import DocumentRenderer
from common.primitives.clock import iso, read_instant
from common.primitives.cursors import CursorSigner
from common.primitives.encryption import Encryptor
from common.primitives.signatures import Signatures, VerifyKeys
from common.process.loops import Loop
from common.process.runtime import Runtime, Service
from common.web.provider_client import provider_client
from payouts.clients.flutterwave import Flutterwave
from payouts.clients.gateway import Gateway, Gateways
from payouts.clients.paystack import Paystack
from payouts.consumers import SUBSCRIPTIONS, WORK
from payouts.demo import load_demo_data
from payouts.dependencies import Dependencies
from payouts.domain.errors import NothingToCorrect
from payouts.domain.transfer_fees import FeeSchedule
from payouts.metrics import LEDGER
from payouts.queries.own_actions import OWN_ACTIONS
from payouts.queries.pending_work import PENDING_WORK
from payouts.queries.personal_records import SECTIONS
from payouts.settings import Settings
from payouts.store import found_transfers, release_checkpoints, retention
from payouts.store.account_numbers import AccountNumbers, previous_release_fingerprint_key
from payouts.timers import (
    check_failures_once,
    check_releases_once,
    compare_transfers_once,
    observe_balances_once,
    process_due_transfers_once,
    refresh_banks_once,
    request_scheduled_payouts_once,
)
from payouts.use_cases.bank_details.check_encryption_key import check_encryption_key
from payouts.use_cases.bank_details.encrypt_account_numbers import encrypt_account_numbers
from payouts.use_cases.releases.correct_wallet import correct_wallet
from payouts.use_cases.transfers.compare_transfers import compare_transfers
from payouts.use_cases.transfers.pause_payouts import pause_payouts
from providers.flutterwave import FlutterwaveApi
from providers.gateways import FLUTTERWAVE, PAYSTACK
from providers.paystack import PaystackApi

# A due transfer waits at most this long. The queue `payouts.transfers` brings urgent ones at once.
CLAIM_EVERY_SECONDS = 5.0
# The longest delay of a scheduled payout after its hour.
POLL_EVERY_SECONDS = 15.0
# Account numbers that the previous release wrote in plain text are encrypted at this interval.
ENCRYPT_EVERY_SECONDS = 30.0
# The interval of the checks of the failure rate and of bank outages.
CHECK_EVERY_SECONDS = 5.0
# A wallet with credits that payments did not release is found within this time. A dispatch checks by itself.
RELEASES_EVERY_SECONDS = 30.0
# After a restore of the database the comparison with the gateway starts within this time.
COMPARE_EVERY_SECONDS = 5.0
# The interval of queries for our balance at the payment gateway. A dispatch queries by itself.
BALANCE_EVERY_SECONDS = 300.0
# The bank list is fetched once a day; after a failure again within this time.
BANKS_EVERY_SECONDS = 900.0


@asynccontextmanager
async def compose(settings: Settings, runtime: Runtime) -> AsyncIterator[Dependencies]:
    """Open the client of the payment gateway and builds the dependencies."""
    shared = (settings.sealing_key, settings.sealing_key_previous)

    def at_rest(purpose: str) -> Encryptor:
        keys = (settings.account_number_key, settings.account_number_key_previous)
        # The previous release's processes may still run: they must be able to read what is written here.
        return Encryptor(f"payouts: {purpose}", *keys, old_keys=shared, writes_old_format=bool(settings.sealing_key))

    runtime.database.signatures = Signatures(
        verify_keys=VerifyKeys(settings.release_verify_keys), checkpoints=at_rest("release checkpoints")
    )
    encryptor, hash_key_encryptor = at_rest("account numbers"), at_rest("hash key")
    # A wrong key stops the start. Otherwise the first payout would fail.
    await check_encryption_key(runtime.database, encryptor)
    known = next((previous_release_fingerprint_key(key) for key in shared if key), None)
    hash_key = await ensure_hash_key(runtime.database, hash_key_encryptor, "payouts", of_release_before=known)
    numbers = AccountNumbers(encryptor, hash_key)
    async with AsyncExitStack() as clients:
        adapters: list[Gateway] = [
            _paystack(
                settings,
                runtime,
                await clients.enter_async_context(
                    _client(settings, settings.gateway_api_url, settings.gateway_secret_key)
                ),
                numbers,
            )
        ]
        if settings.flutterwave_secret_key:
            client = _client(settings, settings.flutterwave_api_url, settings.flutterwave_secret_key)
            adapters.append(_flutterwave(settings, runtime, await clients.enter_async_context(client), numbers))
        documents = DocumentRenderer()
        clients.callback(documents.close)
        yield Dependencies(
            settings,
            runtime.clock,
            runtime.database,
            CursorSigner(settings.cursor_key),
            Gateways(adapters, settings.gateway_provider),
            numbers,
            hash_key_encryptor,
            documents,
        )


def _client(settings: Settings, url: str, secret_key: str) -> httpx.AsyncClient:
    return provider_client(
        base_url=url.rstrip("/") + "/",
        headers={"Authorization": f"Bearer {secret_key}"},
        timeout=settings.gateway_timeout_seconds,
    )


def _flutterwave(
    settings: Settings, runtime: Runtime, client: httpx.AsyncClient, numbers: AccountNumbers
) -> Flutterwave:
    on_key_rejected = partial(pause_payouts, runtime.database, runtime.clock, FLUTTERWAVE)
    return Flutterwave(
        FlutterwaveApi(client, settings.gateway_timeout_seconds, on_key_rejected),
        numbers.plain_number,
        transfer_minimum_minor=settings.payout_transfer_minimum_minor,
        fees=FeeSchedule.parse(settings.flutterwave_transfer_fees),
    )


def _paystack(settings: Settings, runtime: Runtime, client: httpx.AsyncClient, numbers: AccountNumbers) -> Paystack:
    on_key_rejected = partial(pause_payouts, runtime.database, runtime.clock, PAYSTACK)
    return Paystack(
        PaystackApi(client, settings.gateway_timeout_seconds, on_key_rejected),
        numbers.plain_number,
        transfer_minimum_minor=settings.payout_transfer_minimum_minor,
        fees=FeeSchedule.parse(settings.payout_transfer_fees),
    )


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    async def claim_transfer() -> int:
        return await process_due_transfers_once(dependencies.database, dependencies.gateways, dependencies.clock)

    async def request_scheduled() -> int:
        minimum_minor = dependencies.payout_minimum_minor
        return await request_scheduled_payouts_once(dependencies.database, minimum_minor, dependencies.clock)

    async def encrypt() -> int:
        return await encrypt_account_numbers(dependencies.database, dependencies.account_numbers)

    async def watch() -> None:
        gateway, policy = dependencies.gateway.name, dependencies.failure_rate_policy
        await check_failures_once(dependencies.database, gateway, dependencies.clock, policy)

    async def check_releases() -> int:
        return await check_releases_once(dependencies.database, dependencies.clock)

    async def observe_balance() -> None:
        await observe_balances_once(dependencies.database, dependencies.gateways, dependencies.clock)

    async def list_banks() -> int:
        return await refresh_banks_once(dependencies.database, dependencies.gateways, dependencies.clock)

    async def compare() -> None:
        numbers, clock = dependencies.account_numbers, dependencies.clock
        await compare_transfers_once(dependencies.database, dependencies.gateways, numbers, clock)

    return [
        Loop("compare-transfers", compare, COMPARE_EVERY_SECONDS),
        Loop("observe-gateway-balance", observe_balance, BALANCE_EVERY_SECONDS),
        Loop("refresh-banks", list_banks, BANKS_EVERY_SECONDS),
        Loop("check-failure-rate", watch, CHECK_EVERY_SECONDS),
        Loop("check-releases", check_releases, RELEASES_EVERY_SECONDS),
        Loop("claim-due-transfers", claim_transfer, CLAIM_EVERY_SECONDS),
        Loop("request-scheduled-payouts", request_scheduled, POLL_EVERY_SECONDS),
        *LEDGER.loops(dependencies.database, dependencies.clock),
        Loop("encrypt-account-numbers", encrypt, ENCRYPT_EVERY_SECONDS),
    ]


def retention_rules(dependencies: Dependencies) -> Sequence[Rule]:
    """Return the rules by which expired rows are purged."""
    return retention.retention_rules(timedelta(days=dependencies.settings.skipped_payouts_keep_days))


async def verify_ledger_command(dependencies: Dependencies, *earlier: str) -> None:
    """`verify-ledger [<length> <head>]`: verifies the ledger's hash chain. Exits with 1 and names the first broken
    row.
    """
    await LEDGER.verify_by_command(dependencies.database, *earlier)


async def compare_command(dependencies: Dependencies, *arguments: str) -> None:
    """`compare-transfers [--since <instant>]`: compares the gateway's list with the ledger. Exits with 1 while it is
    incomplete.
    """
    parser = argparse.ArgumentParser(prog="compare-transfers")
    parser.add_argument("--since", type=read_instant, default=None)
    since: datetime | None = parser.parse_args(arguments).since
    database, numbers = dependencies.database, dependencies.account_numbers
    done = await compare_transfers(database, dependencies.gateways, numbers, dependencies.clock, since)
    sys.stdout.write(f"{done.listed} transfers listed, {done.recorded} recorded, {done.unsettled} not settled\n")
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for found in await found_transfers.list_open(uow):
            account = f"{found.bank_code} ...{found.account_last4}"
            sys.stdout.write(
                f"unknown: {found.reference}, {found.amount_minor} {found.currency} kobo to {account}, "
                f"{iso(found.created_at)}\n"
            )
    if not done.is_complete:
        sys.exit(1)


async def re_encrypt_command(dependencies: Dependencies, option: str = "") -> None:
    """`python -m payouts re-encrypt [--count]`."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        checkpoints = release_checkpoints.authenticated_rows(uow.checkpoints)
    rows = [*dependencies.account_numbers.encrypted_rows(dependencies.hash_key_encryptor), checkpoints]
    await reencrypt_by_command(dependencies.database, rows, option=option)


async def explain_command(dependencies: Dependencies, reference: str, evidence: str) -> None:
    """`explain-transfer <reference> <evidence>`: records why a listed transfer is none of ours."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await found_transfers.save_explained(uow, reference, evidence):
            sys.exit(f"no transfer {reference} is open: `compare-transfers` lists the open ones")
    sys.stdout.write(f"{reference} is explained\n")


async def correct_command(dependencies: Dependencies, vendor_id: str, surplus_minor: str, evidence: str) -> None:
    """`correct-wallet <vendor> <surplus> <evidence>`: posts back credits beyond what payments signed, in kobo.

    A negative surplus is the amount that the wallet lacks. The command fails unless it is the present difference.
    """
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        try:
            await correct_wallet(uow, UUID(vendor_id), int(surplus_minor), evidence, dependencies.clock.now())
        except NothingToCorrect as refused:
            sys.exit(str(refused.detail))
    sys.stdout.write(f"the wallet of {vendor_id} holds what payments released\n")


async def load_demo(dependencies: Dependencies) -> None:
    await load_demo_data(dependencies.database, dependencies.account_numbers, dependencies.clock)


SERVICE = Service(
    name="payouts",
    settings=Settings,
    compose=compose,
    routes="payouts.routes",
    personal_records=SECTIONS,
    pending_work=PENDING_WORK,
    own_actions=OWN_ACTIONS,
    stoppable="dispatch",
    subscriptions=SUBSCRIPTIONS,
    lock_by=("vendor_id", "order_id"),
    work_items=WORK,
    loops=loops,
    commands={
        "demo-data": load_demo,
        "verify-ledger": verify_ledger_command,
        "verify-book": verify_ledger_command,  # Its name in earlier releases.
        "compare-transfers": compare_command,
        "explain-transfer": explain_command,
        REENCRYPT: re_encrypt_command,
        "correct-wallet": correct_command,
    },
    retention_rules=retention_rules,
)

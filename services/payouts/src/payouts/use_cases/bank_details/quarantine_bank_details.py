"""Stop payouts to a vendor's account, and bring back the one that it was about."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.problems import NotFound
from contracts.payouts import BankDetailsQuarantined
from payouts import queries, store
from payouts.clients.gateway import Gateway
from payouts.domain.bank_accounts import NameCheck
from payouts.domain.quarantines import quarantine_action
from payouts.store import returns
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.payouts.restitute_payout import restitute_payout
from payouts.use_cases.transfers.resolve_transfer import resolve_transfer


@dataclass(frozen=True, slots=True)
class QuarantineOrder:
    """What a member of staff asked for. `payout_id`: the payout that showed that something is wrong with the account."""

    vendor_id: UUID
    reason: str
    payout_id: UUID | None


async def quarantine_bank_details(
    database: Database, gateway: Gateway, clock: Clock, numbers: AccountNumbers, caller: Caller, order: QuarantineOrder
) -> dict[str, Any]:
    """The details lose their verification at once. A payout never submitted is the wallet's again in the same transaction.

    A payout that was asked for with another account than the present one stops that other account instead: it never comes back.
    One that was submitted is marked, and the gateway is asked now; while it is away, the worker goes on asking, and the settling path
    honours the mark. Said again, nothing more happens, but the gateway is asked again, and another reason is written down. Writes as
    the service: finance may not write a vendor's details. Raises NotFound: no details, or a payout of another vendor.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        query_attempts_of = await _stop(uow, numbers, caller.id, order, clock.now())
    if query_attempts_of is not None:
        await resolve_transfer(database, gateway, clock, query_attempts_of)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        details = await queries.find_bank_details(uow, order.vendor_id)
        payout = None if order.payout_id is None else await queries.find_quarantined_payout(uow, order.payout_id)
    return {**(details or {}), "payout": payout}


async def _stop(
    uow: UnitOfWork, numbers: AccountNumbers, by: UUID, order: QuarantineOrder, now: datetime
) -> UUID | None:
    """The attempt that the gateway is to be asked about. Payout, wallet, details: locked in the order of all who lock them."""
    payout = None
    if order.payout_id is not None:
        payout = await returns.lock_payout_with_attempts(uow, order.payout_id)
        if payout is None or payout.vendor_id != order.vendor_id:
            raise NotFound
    stopped, is_new = await _stop_account(uow, numbers, by, order, now)
    has_effect = is_new or await _record_newer_reason(uow, stopped, by, order, now)
    action = "leave" if payout is None else quarantine_action(payout)
    query_attempts_of = None
    if payout is not None and action == "restitute":
        has_effect |= await restitute_payout(uow, payout.id, f"quarantined: {order.reason}", now)
    elif payout is not None and action == "hold":
        has_effect |= await store.mark_restitution_awaited(uow, payout.id, f"quarantined: {order.reason}", now)
        query_attempts_of = await store.find_present_attempt(uow, payout.id)
        if query_attempts_of is not None:
            # For the case that this process dies before it has asked.
            uow.enqueue_work("payouts.transfers", str(payout.id), {"transferId": str(query_attempts_of)})
    if has_effect:
        await store.save_quarantine(uow, order.vendor_id, stopped, order.payout_id, order.reason, by, now)
    return query_attempts_of


async def _record_newer_reason(
    uow: UnitOfWork, stopped: store.QuarantinedAccount, by: UUID, order: QuarantineOrder, now: datetime
) -> bool:
    """Whether the reason is another one than was last said of this account; then the history shows it."""
    if await store.find_newest_quarantine_reason(uow, order.vendor_id, stopped) == order.reason:
        return False
    await store.save_newer_reason(uow, order.vendor_id, stopped, order.reason, by, now)
    return True


async def _stop_account(
    uow: UnitOfWork, numbers: AccountNumbers, by: UUID, order: QuarantineOrder, now: datetime
) -> tuple[store.QuarantinedAccount, bool]:
    """The account that is stopped from now on, and whether it was not before."""
    await store.lock_wallet(uow, order.vendor_id)
    details = await store.lock_bank_details(uow, numbers, order.vendor_id)
    if details is None:
        raise NotFound
    stopped = store.QuarantinedAccount(None, details.number.fingerprint, details.last4, details.bank_code)
    if order.payout_id is not None:
        # What it was about is where its money went, or was to go: a present account that is another one stays as it is.
        its_own = await store.find_account_of_payout(uow, numbers, order.payout_id)
        stopped = stopped if its_own.fingerprint == stopped.fingerprint else its_own
    if stopped.fingerprint in (await store.read_known_accounts(uow, order.vendor_id)).quarantined:
        return stopped, False
    if stopped.version_id is None:
        name_check = NameCheck(False, f"quarantined: {order.reason}")
        unverified = replace(details, name_check=name_check, quarantine_reason=order.reason)
        await store.save_bank_details(uow, unverified, by, now, change="quarantined")
    uow.publish(
        BankDetailsQuarantined(
            vendor_id=order.vendor_id, reason=order.reason, last4=stopped.last4, bank_code=stopped.bank_code
        )
    )
    return stopped, True

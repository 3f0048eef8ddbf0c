"""Stop payouts to a vendor's account, and return the payout that revealed the problem."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import msgspec

from common.auth.caller import THE_SERVICE, Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.clock import Clock
from common.primitives.problems import NotFound
from contracts.payouts import BankDetailsQuarantined
from payouts.clients.gateway import Gateways
from payouts.domain.bank_accounts import NameCheck
from payouts.domain.quarantines import quarantine_action
from payouts.queries.bank_details import find_bank_details, find_quarantined_payout
from payouts.responses.bank_details import QuarantinedBankDetails
from payouts.store import bank_details, returns, wallets
from payouts.store.account_numbers import AccountNumbers
from payouts.use_cases.payouts.steps import restitute_payout
from payouts.use_cases.transfers.resolve_transfer import resolve_transfer


@dataclass(frozen=True, slots=True)
class QuarantineOrder:
    """A request of staff. `payout_id`: the payout that revealed the problem."""

    vendor_id: UUID
    reason: str
    payout_id: UUID | None


async def quarantine_bank_details(
    database: Database,
    gateways: Gateways,
    clock: Clock,
    numbers: AccountNumbers,
    caller: Caller,
    order: QuarantineOrder,
) -> QuarantinedBankDetails:
    """Unverifies the details. A payout never submitted returns to the wallet in the same transaction.

    A payout requested with an earlier account quarantines that account. Other vendors' present details of the account
    are unverified too; until then a dispatch skips their payouts. A submitted payout is marked and queried now; while
    the gateway is unavailable, the worker continues, and the settlement honours the mark. A repetition queries again
    and records another reason. Acts as the service: finance may not write a vendor's details. Raises NotFound (no
    details, or another vendor's payout).
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        fingerprint, query_attempts_of = await _stop(uow, numbers, caller.id, order, clock.now())
        others = await bank_details.list_other_vendors(uow, fingerprint, order.vendor_id)
    for vendor_id in others:
        # One vendor at a time: two quarantines never wait for each other's wallets in a circle.
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await _stop(uow, numbers, caller.id, QuarantineOrder(vendor_id, order.reason, None), clock.now())
    if query_attempts_of is not None:
        await resolve_transfer(database, gateways, clock, query_attempts_of)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        details = await find_bank_details(uow, order.vendor_id)
        payout = None if order.payout_id is None else await find_quarantined_payout(uow, order.payout_id)
    if details is None:
        raise NotFound
    return QuarantinedBankDetails(**msgspec.structs.asdict(details), payout=payout)


async def _stop(
    uow: UnitOfWork, numbers: AccountNumbers, by: UUID, order: QuarantineOrder, now: datetime
) -> tuple[str, UUID | None]:
    """Return the account's fingerprint and the attempt to query. Locks payout, wallet and details, in the order of all
    callers.
    """
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
        has_effect |= await bank_details.mark_restitution_awaited(uow, payout.id, f"quarantined: {order.reason}", now)
        query_attempts_of = await bank_details.find_present_attempt(uow, payout.id)
        if query_attempts_of is not None:
            # The process may die before its query.
            uow.enqueue_work("payouts.transfers", str(payout.id), {"transferId": str(query_attempts_of)})
    if has_effect:
        await bank_details.save_quarantine(uow, order.vendor_id, stopped, order.payout_id, order.reason, by, now)
    return stopped.fingerprint, query_attempts_of


async def _record_newer_reason(
    uow: UnitOfWork, stopped: bank_details.QuarantinedAccount, by: UUID, order: QuarantineOrder, now: datetime
) -> bool:
    """Return whether the reason differs from the newest one, and was recorded."""
    if await bank_details.find_newest_quarantine_reason(uow, order.vendor_id, stopped) == order.reason:
        return False
    await bank_details.save_newer_reason(uow, order.vendor_id, stopped, order.reason, by, now)
    return True


async def _stop_account(
    uow: UnitOfWork, numbers: AccountNumbers, by: UUID, order: QuarantineOrder, now: datetime
) -> tuple[bank_details.QuarantinedAccount, bool]:
    """Return the quarantined account, and whether its quarantine is new."""
    await wallets.lock_wallet(uow, order.vendor_id)
    details = await bank_details.lock_bank_details(uow, numbers, order.vendor_id)
    if details is None:
        raise NotFound
    stopped = bank_details.QuarantinedAccount(None, details.number.fingerprint, details.last4, details.bank_code)
    if order.payout_id is not None:
        # The quarantine concerns the account of the payout; another present account stays as it is.
        its_own = await bank_details.find_account_of_payout(uow, numbers, order.payout_id)
        stopped = stopped if its_own.fingerprint == stopped.fingerprint else its_own
    if stopped.fingerprint in (await bank_details.read_known_accounts(uow, order.vendor_id)).quarantined:
        return stopped, False
    if stopped.version_id is None:
        name_check = NameCheck(False, f"quarantined: {order.reason}")
        unverified = replace(details, name_check=name_check, quarantine_reason=order.reason)
        await bank_details.save_bank_details(uow, unverified, by, now, change="quarantined")
    uow.publish(
        BankDetailsQuarantined(
            vendor_id=order.vendor_id, reason=order.reason, last4=stopped.last4, bank_code=stopped.bank_code
        )
    )
    return stopped, True

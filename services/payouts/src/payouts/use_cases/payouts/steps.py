"""Steps of payouts that several operations share."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Literal, TypeVar
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger.posting import Posting
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.payouts import PayoutFailed, PayoutRequested, PayoutReversed
from payouts.domain import accounts
from payouts.domain.accounts import Recovery
from payouts.domain.quarantines import confirms_failure, has_failed, may_be_restituted, needs_query_first
from payouts.domain.returns import LockedPayout, check_restitution, has_uncovered_payment
from payouts.domain.transfer_updates import LockedTransfer, TransferUpdate
from payouts.domain.wallet import WalletLine, WalletSnapshot, check_payout_request, with_balances
from payouts.store import bank_details, returns, transfers, wallets
from payouts.store.payouts import NewPayout, save_payout_with_next
from payouts.use_cases.exceptions.steps import close_open_exception, open_exception
from payouts.use_cases.wallets.steps import build_debit, credit_wallet, debit_wallet

Subject = TypeVar("Subject", UUID, Recovery)


async def request_from_wallet(
    uow: UnitOfWork,
    vendor_id: UUID,
    amount_minor: int,
    by: UUID,
    now: datetime,
    *,
    minimum_minor: int = 1,
    key: UUID | None = None,
) -> UUID:
    """Move the amount from wallet to in transit and records the payout, `pending`, with the present bank details.
    Returns its id. A repeated request with the same key returns the id of the first. The wallet must be locked.

    Raises EscrowLocked (423), BelowMinimum, AmountAboveWallet and IdempotencyKeyReused (422), VendorSuspended,
    DebtOutstanding, BankDetailsQuarantined and BankDetailsUnverified (409).
    """
    wallet, number, requested = await wallets.read_for_payout(uow, vendor_id, by, key)
    if requested is not None:
        if requested.amount_minor != amount_minor:
            raise IdempotencyKeyReused
        return requested.id
    version_id = check_payout_request(wallet, amount_minor, minimum_minor)
    payout = NewPayout(new_id(), vendor_id, amount_minor, version_id, by, number)
    await record_payout(uow, payout, wallet, now, key)
    return payout.id


async def record_payout(
    uow: UnitOfWork, payout: NewPayout, wallet: WalletSnapshot, now: datetime, key: UUID | None = None
) -> None:
    """Record the payout and move its amount from the wallet, read under its lock, to in transit."""
    payout_id, vendor_id, amount_minor = payout.id, payout.vendor_id, payout.amount_minor
    await save_payout_with_next(uow, payout, now, key)
    line = WalletLine("payout", -amount_minor, payout_id=payout_id)
    posting_of = partial(accounts.payout_requested, payout_id, vendor_id, amount_minor)
    lines, posting = build_debit(wallet, line, posting_of)
    event = PayoutRequested(payout_id=payout_id, vendor_id=vendor_id, amount_minor=amount_minor, number=payout.number)
    balanced = with_balances(wallet.available_minor, lines)
    await wallets.append_lines(uow, vendor_id, f"payout:{payout_id}", balanced, now, posting, event)


async def credit_return(
    uow: UnitOfWork,
    payout: LockedPayout,
    kind: Literal["restitution", "reversal", "recovery_returned", "hold_released"],
    about: Subject,
    posting_of: Callable[[Subject, UUID, int, int], Posting],
    now: datetime,
) -> None:
    """Write statement lines and posting of one return, debt repaid first. The payout must be locked and checked.

    `posting_of` gets the subject, the vendor, the amount, and how much of it repays debt, in kobo.
    """
    wallet = await wallets.lock_wallet(uow, payout.vendor_id)
    line = WalletLine(kind, payout.amount_minor, payout_id=payout.id)
    posting = partial(posting_of, about, payout.vendor_id, payout.amount_minor)
    await credit_wallet(uow, payout.vendor_id, wallet, f"{kind}:{about}", line, posting, now)


async def hold_contradicted(uow: UnitOfWork, transfer: LockedTransfer, now: datetime) -> bool:
    """Return whether the reported success is held: the payout's amount moves from the wallet to its hold, the shortfall
    becomes debt, and a SEV-1 exception asks two people for a reconciliation.

    Nothing is held while the ledger has the money of every transfer that may have paid. The transfer and its payout
    must be locked, and the report recorded.
    """
    payout = await returns.lock_payout_with_attempts(uow, transfer.payout_id)
    if payout is None:
        raise AssertionError("a payout is never removed")
    if not has_uncovered_payment(payout):
        return False
    hold_id, vendor_id = new_id(), payout.vendor_id
    wallet = await wallets.lock_wallet(uow, vendor_id)
    line = WalletLine("hold", -payout.amount_minor, payout_id=payout.id)
    posting_of = partial(accounts.transfer_hold, hold_id, vendor_id, payout.amount_minor)
    await debit_wallet(uow, vendor_id, wallet, f"transfer_hold:{hold_id}", line, posting_of, now)
    await returns.save_hold(uow, hold_id, payout, transfer.id, now)
    detail = (
        f"The gateway reports {transfer.reference} as paid, and the ledger has the money of another transfer only: "
        f"{payout.amount_minor} kobo may have been paid twice and are held. Two people of finance reconcile the payout."
    )
    about = replace(transfer, payout_status=payout.status)
    await open_exception(uow, about, "transfer_contradicted", detail, now)
    return True


async def recover_transfer(
    uow: UnitOfWork, payout: LockedPayout, recovery: Recovery, hold_id: UUID | None, now: datetime
) -> None:
    """Move the amount from its hold to gateway cash; without a hold from the wallet, and its shortfall becomes debt.
    The payout, locked and checked, keeps its status.
    """
    key, amount_minor = f"recovery:{recovery}", payout.amount_minor
    wallet = await wallets.lock_wallet(uow, payout.vendor_id)
    line = WalletLine("recovery", -amount_minor, payout_id=payout.id)
    if hold_id is None:
        posting_of = partial(accounts.recovery, recovery, payout.vendor_id, amount_minor)
        await debit_wallet(uow, payout.vendor_id, wallet, key, line, posting_of, now)
    else:
        await returns.end_hold(uow, hold_id, "recovered", now)
        lines = [WalletLine("hold_released", amount_minor, payout_id=payout.id), line]
        posting = accounts.recovery_of_hold(recovery, payout.vendor_id, amount_minor)
        balanced = with_balances(wallet.available_minor, lines)
        await wallets.append_lines(uow, payout.vendor_id, key, balanced, now, posting)
    await close_open_exception(uow, payout.id, "The unrecorded transfer was taken back from the wallet.", now)


async def release_transfer_hold(uow: UnitOfWork, payout: LockedPayout, hold_id: UUID, now: datetime) -> None:
    """Move the hold to the wallet, debt repaid first. The payout, locked and checked, keeps its status."""
    await returns.end_hold(uow, hold_id, "released", now)
    await credit_return(uow, payout, "hold_released", hold_id, accounts.transfer_hold_released, now)
    await close_open_exception(uow, payout.id, "The held money was not paid: it was returned to the wallet.", now)


async def restitute_payout(
    uow: UnitOfWork, payout_id: UUID, reason: str, now: datetime, *, cancelled: bool = False
) -> bool:
    """Move the amount from in transit to the wallet, debt repaid first; the payout becomes `failed`. False when it was
    done before.

    The only operation that does this; it acts as the service. The caller has queried the last attempt; one under way is
    refused here too. The vendor sees `reason`. Raises NotFound, PayoutNotPending, AmountAlreadyReturned and
    TransferUnderWay (409).
    """
    payout = await returns.lock_payout_with_attempts(uow, payout_id)
    if payout is None:
        raise NotFound
    if not check_restitution(payout):
        return False
    await credit_return(uow, payout, "restitution", payout_id, accounts.restitution, now)
    await returns.withdraw_unsent_attempts(uow, payout_id, f"withdrawn before it was sent: {reason}", now)
    await returns.mark_failed(uow, payout_id, reason, now)
    uow.publish(
        PayoutFailed(
            payout_id=payout_id,
            vendor_id=payout.vendor_id,
            amount_minor=payout.amount_minor,
            reference=payout.reference,
            cancelled=cancelled,
            number=payout.number,
        )
    )
    await close_open_exception(uow, payout_id, "The amount was returned to the wallet.", now)
    return True


async def restitute_after_settlement(
    uow: UnitOfWork, transfer: LockedTransfer, update: TransferUpdate | None, now: datetime
) -> bool:
    """Restitutes an awaiting payout when the gateway confirms that its present attempt failed or was returned.

    `update` None: the gateway, queried, has no such reference. A webhook's failure only causes a query. False when
    nothing was returned. The transfer and its payout must be locked.
    """
    reason = await bank_details.find_awaited_restitution(uow, transfer.id)
    if reason is None:
        return False
    if update is not None and needs_query_first(update):
        uow.enqueue_work("payouts.transfers", transfer.reference, {"transferId": str(transfer.id)})
        return False
    if not (has_failed(transfer) if update is None else confirms_failure(transfer, update)):
        return False
    if update is not None:
        # A webhook alone did not set the row's status: now it is confirmed.
        await transfers.save_transfer_status(uow, transfer, update, now)
    payout = await returns.lock_payout_with_attempts(uow, transfer.payout_id)
    if payout is None or not may_be_restituted(payout):
        # Another attempt is in progress or contradicted: the payout stays held, and maker and checker may reconcile it.
        return False
    return await restitute_payout(uow, transfer.payout_id, reason, now)


async def return_recovery(uow: UnitOfWork, payout: LockedPayout, recovery: Recovery, now: datetime) -> None:
    """Move gateway cash to the wallet, debt repaid first. The payout, locked and checked, keeps its status."""
    await credit_return(uow, payout, "recovery_returned", recovery, accounts.recovery_returned, now)
    await close_open_exception(uow, payout.id, "The recovered transfer came back: its amount was returned.", now)


async def reverse_payout(uow: UnitOfWork, payout: LockedPayout, reconciliation_id: UUID, now: datetime) -> None:
    """Move gateway cash to the wallet, debt repaid first; the payout, locked and checked, stays `processed`."""
    await credit_return(uow, payout, "reversal", payout.id, accounts.reversal, now)
    uow.publish(
        PayoutReversed(
            payout_id=payout.id,
            vendor_id=payout.vendor_id,
            amount_minor=payout.amount_minor,
            reference=payout.reference,
            reconciliation_id=reconciliation_id,
            number=payout.number,
        )
    )
    await close_open_exception(uow, payout.id, "Reversed: the amount was returned to the wallet.", now)

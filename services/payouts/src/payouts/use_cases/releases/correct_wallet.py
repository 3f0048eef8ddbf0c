"""Correct a wallet to the amount that payments' statements prove."""

from datetime import datetime
from functools import partial
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from payouts.domain import accounts
from payouts.domain.errors import NothingToCorrect
from payouts.domain.exceptions import ExceptionAction
from payouts.domain.wallet import WalletLine
from payouts.store import exceptions, wallets
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors
from payouts.use_cases.wallets.steps import credit_wallet, debit_wallet


async def correct_wallet(uow: UnitOfWork, vendor_id: UUID, surplus_minor: int, evidence: str, now: datetime) -> None:
    """Post the surplus back (below zero: what is missing), and closes the vendor's exception with the evidence.

    `surplus_minor` must be the present difference, so that the result is exactly what payments signed. What the wallet
    lacks becomes debt. Raises NothingToCorrect (409).
    """
    wallet = await wallets.lock_wallet(uow, vendor_id)
    check = (await check_released_credits(uow, [vendor_id], now))[vendor_id]
    if check.cover != "not_released" or not check.is_correctable or check.surplus_minor != surplus_minor:
        raise NothingToCorrect(check.cover, check.detail)
    key = f"correction:{new_id()}"
    line = WalletLine("correction", -surplus_minor)
    posting_of = partial(accounts.correction, key, vendor_id, surplus_minor)
    change_wallet = debit_wallet if surplus_minor > 0 else credit_wallet
    await change_wallet(uow, vendor_id, wallet, key, line, posting_of, now)
    exception = await exceptions.lock_open_exception_of_vendor(uow, vendor_id)
    if exception is not None:
        note = f"Corrected by {-surplus_minor} kobo: {evidence}"
        action = ExceptionAction("noted", None, exception.finding, exception.finding, note)
        await exceptions.record_exception_action(uow, exception.id, action, now)
    await hold_vendors(uow, await check_released_credits(uow, [vendor_id], now), now)

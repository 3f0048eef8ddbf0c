"""Correct a wallet to the amount that payments' statements prove."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.primitives.ids import new_id
from payouts import store
from payouts.domain import accounts
from payouts.domain.errors import NothingToCorrect
from payouts.domain.exceptions import ExceptionAction
from payouts.domain.wallet import WalletLine, repayment, shortfall
from payouts.use_cases.releases.check_released_credits import check_released_credits
from payouts.use_cases.releases.hold_vendors import hold_vendors


async def correct_wallet(uow: UnitOfWork, vendor_id: UUID, surplus_minor: int, evidence: str, now: datetime) -> None:
    """Posts the surplus back (below zero: what is missing), and closes the vendor's exception with the evidence.

    `surplus_minor` must be the present difference, so that the result is exactly what payments signed. What the wallet
    lacks becomes debt. Raises NothingToCorrect (409).
    """
    wallet = await store.lock_wallet(uow, vendor_id)
    check = (await check_released_credits(uow, [vendor_id], now))[vendor_id]
    if check.cover != "not_released" or not check.is_correctable or check.surplus_minor != surplus_minor:
        raise NothingToCorrect(check.cover, check.detail)
    key = f"correction:{new_id()}"
    lines = [WalletLine("correction", -surplus_minor)]
    if surplus_minor > 0:
        settled_minor = shortfall(wallet.available_minor, surplus_minor)
        if settled_minor:
            # The advance comes first, so that no line has a balance below zero.
            lines.insert(0, WalletLine("debt_taken", settled_minor))
    else:
        settled_minor = repayment(wallet.debt_minor, -surplus_minor)
        if settled_minor:
            lines.append(WalletLine("debt_repaid", -settled_minor))
    await store.append_lines(uow, vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.correction(key, vendor_id, surplus_minor, settled_minor))
    exception = await store.lock_open_exception_of_vendor(uow, vendor_id)
    if exception is not None:
        note = f"Corrected by {-surplus_minor} kobo: {evidence}"
        await store.record_exception_action(
            uow, exception.id, ExceptionAction("noted", None, exception.finding, exception.finding, note), now
        )
    await hold_vendors(uow, await check_released_credits(uow, [vendor_id], now), now)

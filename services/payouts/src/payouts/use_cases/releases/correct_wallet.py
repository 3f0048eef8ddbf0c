"""Correct a wallet that received what payments did not release: afterwards it holds what payments' statements say."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.primitives.ids import new_id
from payouts import store
from payouts.domain import accounts
from payouts.domain.errors import NothingToCorrect
from payouts.domain.exceptions import Act
from payouts.domain.wallet import Line, repayment, shortfall
from payouts.use_cases.releases.check_received import check_received
from payouts.use_cases.releases.hold_vendors import hold_vendors


async def correct_wallet(uow: UnitOfWork, vendor_id: UUID, surplus_minor: int, evidence: str, now: datetime) -> None:
    """Posts the surplus back (below zero: what is missing), and closes the vendor's exception with the evidence in its trail.

    `surplus_minor` is what the operator saw, and must be the present difference: so nothing can be moved but what brings the wallet to
    what payments signed. What the wallet cannot give any more becomes debt. Raises NothingToCorrect (409).
    """
    wallet = await store.lock_wallet(uow, vendor_id)
    judged = (await check_received(uow, [vendor_id], now))[vendor_id]
    if judged.cover != "not_released" or not judged.is_correctable or judged.surplus_minor != surplus_minor:
        raise NothingToCorrect(judged.cover, judged.detail)
    key = f"correction:{new_id()}"
    lines = [Line("correction", -surplus_minor)]
    if surplus_minor > 0:
        settled_minor = shortfall(wallet.available_minor, surplus_minor)
        if settled_minor:
            # The advance comes first, so that no line shows a balance below zero.
            lines.insert(0, Line("debt_taken", settled_minor))
    else:
        settled_minor = repayment(wallet.debt_minor, -surplus_minor)
        if settled_minor:
            lines.append(Line("debt_repaid", -settled_minor))
    await store.append_lines(uow, vendor_id, key, wallet.available_minor, lines, now)
    await ledger.post(uow, accounts.correction(key, vendor_id, surplus_minor, settled_minor))
    standing = await store.lock_live_of_vendor(uow, vendor_id)
    if standing is not None:
        note = f"Corrected by {-surplus_minor} kobo: {evidence}"
        await store.record_act(uow, standing.id, Act("noted", None, standing.finding, standing.finding, note), now)
    await hold_vendors(uow, await check_received(uow, [vendor_id], now), now)

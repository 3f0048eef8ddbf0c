"""Credit a vendor with a release from escrow."""

from datetime import datetime
from functools import partial

from common.database.unit_of_work import UnitOfWork
from payouts.domain import accounts
from payouts.domain.errors import ReleaseContradicts
from payouts.domain.wallet import Release, WalletLine
from payouts.store import wallets
from payouts.use_cases.wallets.steps import adjust_holds, post_credit


async def credit_release(uow: UnitOfWork, released: Release, now: datetime, *, is_proven: bool = False) -> None:
    """Post the release once, by its id; debt is repaid first. The caller holds the wallet's lock. Raises
    ReleaseContradicts.

    A signed release never contradicts: the recorded line is the wrong one. The comparison with payments' statements
    finds it and holds the vendor's payouts.
    """
    vendor_id = released.vendor_id
    key = f"release:{released.id}"
    wallet, before_minor, has_open_chargeback = await wallets.read_for_release(uow, vendor_id, key)
    if before_minor is not None:
        if before_minor != released.net_minor and not is_proven:
            raise ReleaseContradicts(key)
        return
    line = WalletLine(
        "release",
        released.net_minor,
        released.order_id,
        gross_minor=released.gross_minor,
        commission_minor=released.commission_minor,
        delivery_fee_minor=released.delivery_fee_minor,
    )
    posting_of = partial(accounts.release, key, vendor_id, released.net_minor)
    await post_credit(uow, vendor_id, wallet, key, line, posting_of, now)
    if has_open_chargeback:
        await adjust_holds(uow, vendor_id, key, now)

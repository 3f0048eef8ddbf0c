"""Request a payout from a wallet."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Database
from payouts.store import wallets
from payouts.use_cases.payouts.steps import request_from_wallet


async def request_payout(
    database: Database,
    caller: Caller,
    vendor_id: UUID,
    amount_minor: int,
    now: datetime,
    *,
    minimum_minor: int,
    key: UUID | None,
) -> UUID:
    """Request a payout for the caller's vendor. The wallet is locked from BEGIN on. Raises as `request_from_wallet`."""
    async with database.unit_of_work(acting_as=caller, first=wallets.lock_statement(vendor_id)) as uow:
        return await request_from_wallet(
            uow, vendor_id, amount_minor, caller.id, now, minimum_minor=minimum_minor, key=key
        )

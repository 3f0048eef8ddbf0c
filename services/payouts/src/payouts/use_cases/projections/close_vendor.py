"""Close a vendor whose owner was erased."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.store import erasure, wallets


async def close_vendor(uow: UnitOfWork, vendor_id: UUID, owner_user_id: UUID, sequence: int) -> None:
    """Remove legal name, accounts and schedule under the wallet's lock, which a change of the account acquires too."""
    await wallets.lock_wallet(uow, vendor_id)
    await erasure.close_vendor(uow, vendor_id, owner_user_id, sequence)

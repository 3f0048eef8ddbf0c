"""Issue the invoices of a vendor's ended months."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.lagos import Month
from payouts.store.documents import issue_invoices
from payouts.store.wallets import lock_wallet_unread


async def issue_invoice(uow: UnitOfWork, vendor_id: UUID, month: Month) -> None:
    """Issue the invoice of an ended month, after those of the months before it."""
    await lock_wallet_unread(uow, vendor_id)
    await issue_invoices(uow, vendor_id, month.end)

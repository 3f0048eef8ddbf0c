"""Identity reports a user's addresses."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from orders import store
from orders.domain.buyer_addresses import AddressHashes
from orders.domain.transitions import Rejection


async def project_buyer(
    uow: UnitOfWork, user_id: UUID, email: str, phone: str | None, sequence: int, *, hashes: AddressHashes
) -> Rejection | None:
    """Record the keyed hashes of a user's mail address and phone number. Returns STALE for an older event."""
    email_hash, phone_hash = hashes.of_email(email), hashes.of_phone(phone)
    saved = await store.save_buyer_addresses(uow, user_id, email_hash, phone_hash, sequence)
    return None if saved else Rejection.STALE

"""Project a user of identity."""

from common.database.unit_of_work import UnitOfWork
from common.primitives.lifecycles import Rejection
from orders.domain.buyer_addresses import AddressHashes
from orders.domain.contacts import UserContact, short_name
from orders.domain.projections import UserProjection
from orders.store import projections
from orders.store.contacts import ContactEncryption, save_user_contact


async def project_user(
    uow: UnitOfWork, user: UserProjection, sequence: int, *, hashes: AddressHashes, contacts: ContactEncryption
) -> Rejection | None:
    """Save the keyed hashes of the user's addresses, the short name, and the encrypted contact.

    The contact has only a proven number. Returns STALE for an older event.
    """
    email_hash, phone_hash = hashes.of_email(user.email), hashes.of_phone(user.phone)
    addresses_saved = await projections.save_buyer_addresses(uow, user.id, email_hash, phone_hash, sequence)
    contact = UserContact(user.full_name, user.phone if user.phone_confirmed else None)
    encrypted = contacts.encrypt(user.id, contact)
    contact_saved = await save_user_contact(uow, user.id, short_name(user.full_name), encrypted, sequence)
    return None if addresses_saved or contact_saved else Rejection.STALE

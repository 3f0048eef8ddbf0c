"""Find the recipient of a code."""

from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.domain.one_time_codes import Destination
from identity.store import codes


async def find_recipient(uow: UnitOfWork, destination: Destination, claimant_id: UUID | None) -> UUID | None:
    """Return the user who claims the number of their profile, or the one whom the address signs in; None without one."""
    if claimant_id is not None and await codes.may_confirm_phone(uow, claimant_id, destination):
        return claimant_id
    return await codes.find_sign_in_user(uow, destination)

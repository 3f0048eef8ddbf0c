"""Apply to become a vendor."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.domain.errors import ApplicationOpen, EmailNotConfirmed, ProfileMissing, UnknownCampus, VendorOwned
from identity.domain.shop_members import ApplicantWorksForAShop
from identity.domain.vendor_applications import NewApplication
from identity.queries.shop_members import works_for_a_shop
from identity.store import vendors


async def apply_as_vendor(uow: UnitOfWork, caller: Caller, details: NewApplication, *, now: datetime) -> UUID:
    """Record an application and return its id. After a rejection the user may apply again.

    Raises ProfileMissing and EmailNotConfirmed (403), UnknownCampus (422), VendorOwned,
    ApplicantWorksForAShop and ApplicationOpen (409).
    """
    if not await vendors.lock_applicant(uow, caller.id):
        raise ProfileMissing
    if not await vendors.is_applicant_email_confirmed(uow, caller.id):
        raise EmailNotConfirmed
    if not await vendors.is_campus_open(uow, details.campus_id):
        raise UnknownCampus
    if await vendors.owns_a_vendor(uow, caller.id):
        raise VendorOwned
    if await works_for_a_shop(uow, caller.id):
        raise ApplicantWorksForAShop
    application_id = new_id()
    if not await vendors.record_application_if_new(uow, application_id, caller.id, details, now):
        raise ApplicationOpen
    return application_id

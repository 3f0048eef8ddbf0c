"""Hold all payouts of vendors with wrong credits, and release them after the correction."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from payouts.domain.dispatch import HeldVendor
from payouts.domain.release_statements import CoverCheck
from payouts.store import exceptions
from payouts.use_cases.exceptions.steps import open_exception, resolve_exception


async def hold_vendors(uow: UnitOfWork, checks: Mapping[UUID, CoverCheck], now: datetime) -> None:
    """Open, revises or closes the exception of each vendor. A wait opens one only when it is late. One that another
    process opens meanwhile is closed by the next check.

    Vendors are locked in the order of their ids, so that two processes never wait for each other in a circle.
    """
    for vendor_id in sorted(checks):
        verdict = checks[vendor_id]
        held = HeldVendor(vendor_id, abs(verdict.surplus_minor))
        if verdict.cover == "not_released":
            await open_exception(uow, held, "credit_not_released", verdict.detail, now)
        elif verdict.is_late(now):
            await open_exception(uow, held, "release_statement_late", verdict.detail, now)
        elif verdict.cover == "covered" and verdict.has_exception:
            exception = await exceptions.lock_open_exception_of_vendor(uow, vendor_id)
            if exception is not None:
                reason = "The wallet received what payments released, and nothing else."
                await resolve_exception(uow, exception, reason, now)

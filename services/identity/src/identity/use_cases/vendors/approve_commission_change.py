"""Approve a prepared commission change."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from contracts.identity import VendorChanged
from identity.domain.errors import CommissionChangeOutdated
from identity.store import commission_changes, vendors
from identity.store.staff import record_staff_action
from identity.use_cases.vendors.steps import lock_commission_change


async def approve_commission_change(
    uow: UnitOfWork, caller: Caller, change_id: UUID, approved_hash: str, *, now: datetime
) -> None:
    """Apply the commission to new orders of the vendor; earlier orders keep theirs.

    Raises NotFound, OwnVendor (403), NoLongerAdmin, VendorIsClosed, CommissionChangeOutdated (409), and the errors of
    `evaluate_approval`.
    """
    change, vendor = await lock_commission_change(uow, caller, change_id)
    decision = change.decision_at(now)
    if not await commission_changes.TABLE.approve(uow, change_id, decision, approved_hash, caller.id, now):
        return
    vendor.check_open()
    if vendor.commission_basis_points != change.before_basis_points:
        raise CommissionChangeOutdated
    changed = replace(vendor, commission_basis_points=change.basis_points)
    await vendors.save_vendor(uow, changed)
    await record_staff_action(
        uow,
        "changed",
        "vendor",
        vendor.id,
        {
            "commissionBasisPoints": change.basis_points,
            "before": change.before_basis_points,
            "changeId": str(change_id),
            "preparedBy": str(change.prepared_by),
        },
        by=caller.id,
        now=now,
    )
    uow.publish(VendorChanged(**changed.event_fields))

"""What shall become of a quarantined charge, as the first of two people sees it."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from payments import store
from payments.domain.errors import NotInQuarantine
from payments.domain.quarantine import Outcome, evaluate_acceptance


async def prepare_quarantine(
    uow: UnitOfWork, quarantined_id: UUID, outcome: Outcome, reason: str, by: UUID, now: datetime
) -> None:
    """No money moves yet. Raises NotFound, NotInQuarantine and ChargeCannotBeAccepted (409)."""
    charge = await store.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    if charge["status"] != "quarantined":
        raise NotInQuarantine(charge["status"])
    if outcome == "accept":
        behind = await store.lock_payable_order(uow, charge["reference"])
        evaluate_acceptance(charge["amount_minor"], charge["currency"], behind.expected if behind else None)
    await store.record_quarantine_decision(uow, new_id(), quarantined_id, outcome, reason, by, now)
    await store.save_quarantined(uow, quarantined_id, "prepared")

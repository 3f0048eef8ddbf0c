"""Return the holds of payments that a process of the version before ended."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payments.store import charges
from payments.use_cases.balances.return_hold import return_hold


async def sweep_holds(uow: UnitOfWork, reference: str, now: datetime) -> bool:
    """Return whether the payment of this reference had left a hold. Locks its orders, as every end of a payment
    does.
    """
    payable = await charges.lock_payable_orders(uow, reference)
    return payable is not None and await return_hold(uow, payable.intent_id, now)

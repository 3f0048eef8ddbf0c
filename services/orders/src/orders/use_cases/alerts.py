"""Alerts of this service for staff on call."""

from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts
from orders.domain.orders import Order

_ALERTS: Final = Alerts("orders")


def alert_repeated_reissue(uow: UnitOfWork, order: Order) -> None:
    """Alert that staff reissued the PIN of one order more than once (runbook repeated-pin-reissue)."""
    _ALERTS.raise_alert(
        uow,
        "SEV-3",
        f"Repeated reissues of a delivery PIN by staff: order {order.number}",
        "Two members of staff have reissued the PIN of this order more than once.",
        runbook="repeated-pin-reissue",
        key=f"pin-reissue:{order.id}",
        about=str(order.id),
    )

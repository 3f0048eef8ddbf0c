"""What happens because time passed, on the injected clock."""

from typing import Any

from common.caller import THE_SERVICE
from common.logging import get_logger
from payments import store
from payments.clients.gateway import GatewayAway, GatewayRefused
from payments.domain.errors import NewsUnreadable, RefundContradiction
from payments.use_cases.ask_about_refund import ask_about_refund

log = get_logger(__name__)

ASK_EVERY_SECONDS = 30.0


async def settle_refunds_once(dependencies: Any) -> int:
    """Asks the gateway about the refunds that are due for a question; tells how many moved (contract section 15.11)."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.list_due_refunds(uow, dependencies.clock.now())
    moved = 0
    for refund_id in due:
        try:
            moved += await ask_about_refund(dependencies.database, dependencies.gateway, dependencies.clock, refund_id)
        except (GatewayAway, GatewayRefused, NewsUnreadable, RefundContradiction) as error:
            log.warning("refund not settled by asking", refund_id=str(refund_id), error=str(error))
    return moved

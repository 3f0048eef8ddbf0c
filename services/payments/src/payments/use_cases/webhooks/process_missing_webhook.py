"""Take what the gateway tells when it is asked in the place of a webhook that never came, with the same work."""

from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from payments.clients.gateway import PaymentGateway
from payments.domain.reconciliation import Difference
from payments.use_cases.webhooks.process_gateway_answer import process_gateway_answer

log = get_logger(__name__)


async def process_missing_webhook(database: Database, gateway: PaymentGateway, found: Difference) -> bool:
    """Whether work was left. When the webhook comes after all it is recorded under its own key, and finds nothing to change.

    Raises GatewayAway and GatewayRefused.
    """
    subject = found.subject.partition(":")[2]
    if found.kind == "charge_not_in_book" and found.reference is not None:
        told, event = await gateway.find_transaction(found.reference), "charge.success"
        happened = told is not None and told.get("status") == "success"
    elif found.kind == "refund_not_in_book" and subject.isdigit():
        told, event = await gateway.find_refund(subject), "refund.processed"
        happened = told is not None and told.get("status") == "processed"
    else:
        return False
    if not happened or told is None:
        return False
    is_first = await process_gateway_answer(database, event, told)
    if is_first:
        log.warning("a webhook never came; the gateway was asked instead", subject=found.subject)
    return is_first

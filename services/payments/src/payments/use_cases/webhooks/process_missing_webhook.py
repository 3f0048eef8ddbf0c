"""Fetch a transaction or refund from the gateway and process it as its missing webhook."""

from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from payments.clients.gateway import PaymentGateway
from payments.domain.reconciliation import Difference
from payments.use_cases.webhooks.file_gateway_response import file_gateway_response

log = get_logger(__name__)


async def process_missing_webhook(database: Database, gateway: PaymentGateway, found: Difference) -> bool:
    """Whether a response was filed. A webhook that arrives later is filed under its own key, and changes nothing.

    Raises GatewayUnavailable and GatewayRejected.
    """
    subject = found.subject.partition(":")[2]
    if found.kind == "charge_not_in_book" and found.reference is not None:
        reported, event = await gateway.find_transaction(found.reference), "charge.success"
        happened = reported is not None and reported.get("status") == "success"
    elif found.kind == "refund_not_in_book" and subject.isdigit():
        reported, event = await gateway.find_refund(subject), "refund.processed"
        happened = reported is not None and reported.get("status") == "processed"
    else:
        return False
    if not happened or reported is None:
        return False
    is_first = await file_gateway_response(database, event, reported)
    if is_first:
        log.warning("webhook missing, state fetched from the gateway", subject=found.subject)
    return is_first

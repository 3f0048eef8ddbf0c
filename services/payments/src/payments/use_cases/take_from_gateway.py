"""Take what the gateway tells when it is asked as if its webhook had come: filed under the same key, with the same work."""

import json

from common.database import Database
from common.logging import get_logger
from payments.clients.gateway import PaymentGateway
from payments.domain.reconciliation import Difference
from payments.use_cases.accept_webhook import accept_webhook

log = get_logger(__name__)


async def take_from_gateway(database: Database, gateway: PaymentGateway, found: Difference) -> bool:
    """Whether work was left: the webhook had never come. When it comes after all it is a duplicate, and changes nothing.

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
    if not happened:
        return False
    is_first = await accept_webhook(database, json.dumps({"event": event, "data": told}).encode())
    if is_first:
        log.warning("a webhook never came; the gateway was asked instead", subject=found.subject)
    return is_first

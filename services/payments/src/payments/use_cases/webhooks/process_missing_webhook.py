"""Fetch a transaction or refund from the gateway and process it as its missing webhook."""

from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from payments.clients.gateway import GatewayRejected, PaymentGateway
from payments.domain.identifiers import attempt_of_reference
from payments.domain.reconciliation import Difference
from payments.domain.revisions import GatewaySubject
from payments.use_cases.webhooks.file_gateway_response import file_gateway_response

log = get_logger(__name__)


async def process_missing_webhook(database: Database, gateway: PaymentGateway, found: Difference) -> bool:
    """Return whether a response was filed. A later webhook is filed under its own key, and changes nothing.

    After a rejected query its case stays open. Raises GatewayUnavailable.
    """
    subject = _subject_of(found)
    if subject is None:
        return False
    try:
        event = await gateway.find_event(subject)
    except GatewayRejected as rejection:
        log.warning("missing webhook cannot be fetched", subject=found.subject, error=str(rejection))
        return False
    if event is None or not event.moved_money:
        return False
    is_first = await file_gateway_response(database, gateway.name, event)
    if is_first:
        log.warning("webhook missing, state fetched from the gateway", subject=found.subject)
    return is_first


def _subject_of(found: Difference) -> GatewaySubject | None:
    key = found.subject.partition(":")[2]
    if found.kind == "charge_not_in_book" and found.reference is not None:
        return GatewaySubject("charge", found.reference)
    if found.kind == "refund_not_in_book" and attempt_of_reference(key) is None:
        return GatewaySubject("refund", key)
    return None

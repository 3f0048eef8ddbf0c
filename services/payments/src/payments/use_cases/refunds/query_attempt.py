"""Query the gateway for the state of one attempt of a refund."""

from payments.clients.gateway import PaymentGateway
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundUpdate, refund_of_transfer
from payments.store.refund_attempts import RefundAttempt


async def query_attempt(gateway: PaymentGateway, attempt: RefundAttempt) -> RefundUpdate | None:
    """Return the state of our reference at the attempt's gateway; None when it has none. Raises GatewayUnavailable,
    GatewayRejected.
    """
    reference = refund_reference(attempt.id)
    if attempt.recipient_code is not None:
        transfer = await gateway.find_transfer(reference)
        return None if transfer is None else refund_of_transfer(transfer)
    if attempt.gateway_refund_id is not None:
        return await gateway.find_refund(attempt.gateway_refund_id)
    listed = await gateway.list_refunds(attempt.transaction)
    return next((update for update in listed if update.note == reference), None)

"""Query the gateway for the state of one attempt of a refund."""

from payments.clients.gateway import PaymentGateway
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundUpdate, read_refund, read_refund_transfer
from payments.store.refund_attempts import RefundAttempt


async def query_attempt(gateway: PaymentGateway, attempt: RefundAttempt) -> RefundUpdate | None:
    """The state under our reference; None when the gateway has none. Raises GatewayUnavailable, GatewayRejected."""
    reference = refund_reference(attempt.id)
    if attempt.recipient_code is not None:
        transfer = await gateway.find_transfer(reference)
        return None if transfer is None else read_refund_transfer(transfer)
    if attempt.gateway_refund_id is not None:
        reported = await gateway.find_refund(attempt.gateway_refund_id)
    else:
        listed = await gateway.list_refunds(attempt.transaction)
        reported = next((entry for entry in listed if entry.get("merchant_note") == reference), None)
    return None if reported is None else read_refund(reported)

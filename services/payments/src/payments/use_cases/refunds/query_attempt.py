"""Ask the gateway what became of one attempt of a refund."""

from payments.clients.gateway import PaymentGateway
from payments.domain.identifiers import refund_reference
from payments.domain.refunds import RefundUpdate, read_refund, read_refund_transfer
from payments.store import Attempt


async def query_attempt(gateway: PaymentGateway, attempt: Attempt) -> RefundUpdate | None:
    """What the gateway shows under our reference; None when it knows nothing of it. Raises GatewayAway, GatewayRefused."""
    reference = refund_reference(attempt.id)
    if attempt.recipient_code is not None:
        transfer = await gateway.find_transfer(reference)
        return None if transfer is None else read_refund_transfer(transfer)
    if attempt.gateway_refund_id is not None:
        told = await gateway.find_refund(attempt.gateway_refund_id)
    else:
        listed = await gateway.list_refunds(attempt.transaction)
        told = next((entry for entry in listed if entry.get("merchant_note") == reference), None)
    return None if told is None else read_refund(told)

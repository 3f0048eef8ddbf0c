"""Find refunds of a charge that only the gateway has recorded, before another one is sent."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import PaymentGateway
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundUpdate
from payments.store.reconciliation import find_recorded_refund
from payments.store.refund_attempts import RefundAttempt


async def list_unrecorded_refunds(
    database: Database, gateway: PaymentGateway, attempt: RefundAttempt
) -> list[tuple[UUID, RefundUpdate]]:
    """The unfailed refunds of the charge whose note is ours and whose attempt has no row, and those of the attempt itself.

    Such a refund was sent after the instant to which the database was restored. Raises GatewayUnavailable, GatewayRejected and
    MalformedEvent.
    """
    # The gateway accepts a transfer's reference only once.
    if attempt.recipient_code is not None:
        return []
    updates = await gateway.list_refunds(attempt.transaction)
    found: list[tuple[UUID, RefundUpdate]] = []
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for update in updates:
            attempt_id = attempt_of_reference(update.note)
            if attempt_id is None or update.status == "failed":
                continue
            if attempt_id == attempt.id or await find_recorded_refund(uow, attempt_id, None) is None:
                found.append((attempt_id, update))
    return found

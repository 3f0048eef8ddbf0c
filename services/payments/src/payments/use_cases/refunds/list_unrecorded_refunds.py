"""Find refunds of a charge that only the gateway has recorded, before another one is sent."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import Gateways
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundUpdate
from payments.store.reconciliation import find_recorded_refund
from payments.store.refund_attempts import RefundAttempt


async def list_unrecorded_refunds(
    database: Database, gateways: Gateways, attempt: RefundAttempt
) -> list[tuple[UUID, RefundUpdate]]:
    """The unfailed refunds of the charge whose note is ours and whose attempt has no row, and those of the attempt itself.

    Such a refund was sent after the instant to which the database was restored. One whose gateway shows no note, and whose id is not
    recorded, counts as the attempt's. Raises GatewayUnavailable, GatewayRejected and
    MalformedEvent.
    """
    # The gateway accepts a transfer's reference only once.
    if attempt.recipient_code is not None:
        return []
    updates = await gateways.of(attempt.gateway).list_refunds(attempt.transaction)
    found: list[tuple[UUID, RefundUpdate]] = []
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for update in updates:
            attempt_id = attempt_of_reference(update.note)
            if update.is_anonymous and await find_recorded_refund(uow, None, update.gateway_refund_id) is None:
                # It may be the one of a call of ours whose response was lost.
                attempt_id = attempt.id
            if attempt_id is None or update.status == "failed":
                continue
            if attempt_id == attempt.id or await find_recorded_refund(uow, attempt_id, None) is None:
                found.append((attempt_id, update))
    return found

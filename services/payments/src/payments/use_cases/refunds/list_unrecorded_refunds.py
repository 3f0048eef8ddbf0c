"""Ask the gateway, before a refund is sent, whether money of its charge left already without the books knowing of it."""

from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import PaymentGateway
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RefundUpdate, read_refund
from payments.store import Attempt, reconciliation


async def list_unrecorded_refunds(
    database: Database, gateway: PaymentGateway, attempt: Attempt
) -> list[tuple[UUID, RefundUpdate]]:
    """Refunds of the same charge that bear a note of ours, did not fail, and whose attempt no row of ours names: what was sent after
    the instant at which the database was put back. One under the attempt's own note counts too. Raises GatewayAway, GatewayRefused
    and NewsUnreadable.
    """
    # A transfer's reference is taken once, whatever we know.
    if attempt.recipient_code is not None:
        return []
    told = [read_refund(entry) for entry in await gateway.list_refunds(attempt.transaction)]
    found: list[tuple[UUID, RefundUpdate]] = []
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for update in told:
            named = attempt_of_reference(update.note)
            if named is None or update.status == "failed":
                continue
            if named == attempt.id or await reconciliation.find_booked_refund(uow, named, None) is None:
                found.append((named, update))
    return found

"""Post a settlement to our bank account, or compare it with its posting."""

from typing import Final

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.ledger import posting as ledger
from common.observability.logging import get_logger
from payments.clients.gateway import GatewayRejected, PaymentGateway
from payments.domain import postings
from payments.domain.reconciliation import Difference, compare_settlement, unknown_settlement, unreadable_at_gateway
from payments.domain.settlements import Settlement, settlement_key, unknown_references
from payments.store import reconciliation
from payments.use_cases.alerts import alert_settlement

log = get_logger(__name__)

# Half a million settlements of a period, or charges of a settlement; bounds the run against a list that never ends.
PAGES_MAX: Final = 5_000


async def post_settlement(database: Database, gateway: PaymentGateway, settlement: Settlement) -> list[Difference]:
    """Return the differences. A settlement of known charges is posted once; one of unknown charges is a difference.

    Raises GatewayUnavailable.
    """
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        recorded = await reconciliation.find_recorded_settlement(uow, settlement.id)
    if recorded is not None or settlement.status != "settled":
        return compare_settlement(settlement, recorded)
    try:
        references = await _references_of(gateway, settlement)
    except GatewayRejected as fault:
        # One odd settlement does not end the run.
        return [unreadable_at_gateway(settlement_key(settlement.id), settlement.id, str(fault))]
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        known = await reconciliation.list_known_references(uow, references)
        unknown = unknown_references(references, known)
        if unknown or not known:
            return [unknown_settlement(settlement, unknown)]
        if await ledger.post(uow, postings.settlement(settlement)):
            alert_settlement(uow, settlement)
    log.warning("settlement to the bank posted", settlement_id=settlement.id, amount_minor=settlement.amount_minor)
    return []


async def _references_of(gateway: PaymentGateway, settlement: Settlement) -> list[str]:
    references: list[str] = []
    for page in range(1, PAGES_MAX + 1):
        listed = await gateway.page_of_settlement_charges(settlement.id, page)
        references += [charge.reference for charge in listed.rows]
        # A charge that cannot be read is one that the ledger does not have.
        references += [row.reference or row.key for row in listed.unreadable]
        if listed.is_last:
            break
    return references

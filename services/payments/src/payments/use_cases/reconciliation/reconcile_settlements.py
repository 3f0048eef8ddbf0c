"""Post the gateway's settlements of a period to our bank account, and compare those that are posted."""

from collections.abc import AsyncIterator
from datetime import datetime

from common.database.unit_of_work import Database
from payments.clients.gateway import PaymentGateway
from payments.domain.reconciliation import Difference, unreadable_at_gateway
from payments.domain.settlements import settlement_key
from payments.use_cases.reconciliation.post_settlement import PAGES_MAX, post_settlement


async def reconcile_settlements(
    database: Database, gateway: PaymentGateway, start: datetime, end: datetime
) -> AsyncIterator[list[Difference]]:
    """Yield the differences in batches. Raises GatewayUnavailable, and GatewayRejected for a list."""
    for page in range(1, PAGES_MAX + 1):
        listed = await gateway.page_of_settlements(start, end, page)
        for settlement in listed.rows:
            yield await post_settlement(database, gateway, settlement)
        yield [unreadable_at_gateway(settlement_key(row.key), row.reference, row.reason) for row in listed.unreadable]
        if listed.is_last:
            return

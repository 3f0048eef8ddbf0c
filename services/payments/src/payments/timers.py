"""What happens because time passed, on the injected clock."""

from typing import Any

from common.book import DAILY, RUN_LEASE
from common.caller import THE_SERVICE
from common.database import Database
from common.logging import get_logger
from payments import store
from payments.clients.gateway import GatewayAway, GatewayRefused
from payments.domain.errors import NewsUnreadable, RefundContradiction
from payments.domain.reconciliation import LOOK_BACK, UNDER_WAY
from payments.measures import DEAD_WEBHOOKS_WAITING, ESCROW_LIABILITY_MINOR, QUARANTINED_CHARGES_WAITING
from payments.queries.measures import count_dead_webhooks, count_quarantined_charges, sum_held
from payments.store import reconciliation, revisions, statements
from payments.use_cases.ask_about_refund import ask_about_refund
from payments.use_cases.issue_statement import issue_statement
from payments.use_cases.query_revised_webhook import query_revised_webhook
from payments.use_cases.query_unpaid_attempts import query_unpaid_attempts
from payments.use_cases.recheck_cases import recheck_cases
from payments.use_cases.reconcile import reconcile
from payments.use_cases.tell_of_cases import tell_of_cases

log = get_logger(__name__)

ASK_EVERY_SECONDS = 30.0
# A look into an index that is empty but for the rare revision.
QUERY_REVISED_EVERY_SECONDS = 2.0
QUERY_UNPAID_EVERY_SECONDS = 5.0
MEASURE_EVERY_SECONDS = 300.0
# After an upgrade or a rotation payouts wait this long for the statements of vendors whose money does not move.
ISSUE_EVERY_SECONDS = 15.0
STATEMENTS_AT_ONCE_MAX = 200


async def settle_refunds_once(dependencies: Any) -> int:
    """Asks the gateway about the refunds that are due for a question; tells how many moved (contract section 7.6)."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.list_due_refunds(uow, dependencies.clock.now())
    moved = 0
    for refund_id in due:
        try:
            moved += await ask_about_refund(dependencies.database, dependencies.gateway, dependencies.clock, refund_id)
        except (GatewayAway, GatewayRefused, NewsUnreadable, RefundContradiction) as error:
            log.warning("refund not settled by asking", refund_id=str(refund_id), error=str(error))
    return moved


async def query_revised_webhooks_once(dependencies: Any) -> int:
    """Queries the gateway about the revised webhooks that are due for it; tells how many answers are new (contract section 9.2)."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await revisions.list_due_queries(uow, dependencies.clock.now())
    recorded = 0
    for webhook_id in due:
        try:
            recorded += await query_revised_webhook(
                dependencies.database, dependencies.gateway, dependencies.clock, webhook_id
            )
        except (GatewayAway, GatewayRefused) as error:
            log.warning("revised webhook not answered by the gateway", webhook_id=webhook_id, error=str(error))
    return recorded


async def query_unpaid_attempts_once(dependencies: Any) -> int:
    """Queries the gateway about payments whose outcome has not arrived; tells how many answers are new."""
    return await query_unpaid_attempts(dependencies.database, dependencies.gateway, dependencies.clock)


async def reconcile_once(dependencies: Any) -> bool:
    """Once a day the last days are reconciled, by one of the workers; in between the open cases are looked at again."""
    database, gateway, clock = dependencies.database, dependencies.gateway, dependencies.clock
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_due = await reconciliation.claim_run(uow, now, now + RUN_LEASE)
    if not is_due:
        await recheck_cases(database, gateway, clock)
        await tell_of_cases(database, clock)
        return False
    await reconcile(database, gateway, clock, now - LOOK_BACK, now - UNDER_WAY)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reconciliation.save_next_run(uow, now + DAILY)
    return True


async def issue_statements_once(database: Database) -> int:
    """Issues a statement to each vendor who has none under the present key, each in a unit of work of its own; returns how many."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        vendors = await statements.list_vendors_without_statement(uow, uow.signing_key.id, STATEMENTS_AT_ONCE_MAX)
    issued = 0
    for vendor_id in vendors:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            issued += await issue_statement(uow, vendor_id)
    return issued


async def measure_once(database: Database) -> None:
    """Publishes what is held in escrow, and how many webhooks and quarantined charges wait for people."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        ESCROW_LIABILITY_MINOR.set(await sum_held(uow))
        DEAD_WEBHOOKS_WAITING.set(await count_dead_webhooks(uow))
        QUARANTINED_CHARGES_WAITING.set(await count_quarantined_charges(uow))

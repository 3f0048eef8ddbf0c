"""What happens because time passed, on the injected clock."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.ledger.chain_loops import DAILY, RUN_LEASE
from common.observability.logging import get_logger
from payments import store
from payments.clients.gateway import GatewayRefused, GatewayUnavailable
from payments.dependencies import Dependencies
from payments.domain.errors import MalformedEvent, RefundContradiction
from payments.domain.reconciliation import LOOK_BACK, UNDER_WAY
from payments.metrics import DEAD_WEBHOOKS_WAITING, ESCROW_LIABILITY_MINOR, QUARANTINED_CHARGES_WAITING
from payments.queries.metrics import count_dead_webhooks, count_quarantined_charges, sum_held
from payments.store import reconciliation, revisions, statements
from payments.use_cases.intents.query_unpaid_attempts import query_unpaid_attempts
from payments.use_cases.reconciliation.alert_unexplained import alert_unexplained
from payments.use_cases.reconciliation.recheck_cases import recheck_cases
from payments.use_cases.reconciliation.reconcile import reconcile
from payments.use_cases.refunds.poll_refund import poll_refund
from payments.use_cases.statements.issue_statement import issue_statement
from payments.use_cases.webhooks.query_revised_webhook import query_revised_webhook

log = get_logger(__name__)

POLL_EVERY_SECONDS = 30.0
# A look into an index that is empty but for the rare revision.
QUERY_REVISED_EVERY_SECONDS = 2.0
QUERY_UNPAID_EVERY_SECONDS = 5.0
MEASURE_EVERY_SECONDS = 300.0
# After an upgrade or a rotation payouts wait this long for the statements of vendors whose money does not move.
ISSUE_EVERY_SECONDS = 15.0
STATEMENTS_AT_ONCE_MAX = 200


async def settle_refunds_once(dependencies: Dependencies) -> int:
    """Asks the gateway about the refunds that are due for a question; tells how many moved (contract section 7.6)."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await store.list_due_refunds(uow, dependencies.clock.now())
    moved = 0
    for refund_id in due:
        try:
            moved += await poll_refund(dependencies.database, dependencies.gateway, dependencies.clock, refund_id)
        except (GatewayUnavailable, GatewayRefused, MalformedEvent, RefundContradiction) as error:
            log.warning("refund not settled by asking", refund_id=str(refund_id), error=str(error))
    return moved


async def query_revised_webhooks_once(dependencies: Dependencies) -> int:
    """Queries the gateway about the revised webhooks that are due for it; tells how many answers are new (contract section 9.2)."""
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        due = await revisions.list_due_queries(uow, dependencies.clock.now())
    recorded = 0
    for webhook_id in due:
        try:
            recorded += await query_revised_webhook(
                dependencies.database, dependencies.gateway, dependencies.clock, webhook_id
            )
        except (GatewayUnavailable, GatewayRefused) as error:
            log.warning("revised webhook not answered by the gateway", webhook_id=webhook_id, error=str(error))
    return recorded


async def query_unpaid_attempts_once(dependencies: Dependencies) -> int:
    """Queries the gateway about payments whose outcome has not arrived; tells how many answers are new."""
    return await query_unpaid_attempts(dependencies.database, dependencies.gateway, dependencies.clock)


async def reconcile_once(dependencies: Dependencies) -> bool:
    """Once a day the last days are reconciled, by one of the workers; in between the open cases are looked at again."""
    database, gateway, clock = dependencies.database, dependencies.gateway, dependencies.clock
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_due = await reconciliation.claim_run(uow, now, now + RUN_LEASE)
    if not is_due:
        await recheck_cases(database, gateway, clock)
        await alert_unexplained(database, clock)
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

"""The periodic jobs, on the injected clock. Each is a `..._once` function that a loop of `app.py` runs."""

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from common.ledger.chain_loops import DAILY, RUN_LEASE
from common.observability.logging import get_logger
from payments.clients.gateway import GatewayRejected, GatewayUnavailable
from payments.dependencies import Dependencies
from payments.domain.errors import MalformedEvent, RefundContradiction, WithdrawalOutcomeUnknown
from payments.domain.reconciliation import LOOKBACK_PERIOD, WEBHOOK_GRACE_PERIOD
from payments.metrics import (
    AUDIT_BROKEN,
    AUDIT_TIMESTAMP_SECONDS,
    DEAD_WEBHOOKS_WAITING,
    ESCROW_LIABILITY_MINOR,
    QUARANTINED_CHARGES_WAITING,
)
from payments.queries.metrics import count_dead_webhooks, count_quarantined_charges, find_latest_audit, sum_held
from payments.store import (
    balances,
    chargeback_responses,
    chargebacks,
    ledger_totals,
    reconciliation,
    refunds,
    revisions,
    statements,
    withdrawals,
)
from payments.use_cases.balances.sweep_holds import sweep_holds
from payments.use_cases.chargebacks.check_due_chargeback import check_due_chargeback
from payments.use_cases.chargebacks.query_decided_disputes import query_decided_disputes
from payments.use_cases.chargebacks.query_disputes import query_disputes
from payments.use_cases.chargebacks.submit_response import submit_response
from payments.use_cases.gateways.recheck_rejected_keys import recheck_rejected_keys
from payments.use_cases.intents.query_unpaid_attempts import query_unpaid_attempts
from payments.use_cases.reconciliation.check_unexplained import check_unexplained
from payments.use_cases.reconciliation.recheck_cases import recheck_cases
from payments.use_cases.reconciliation.reconcile import reconcile
from payments.use_cases.refunds.poll_refund import poll_refund
from payments.use_cases.rewards.move_rewards import MOVED_MAX, move_rewards
from payments.use_cases.statements.issue_statement import issue_statement
from payments.use_cases.webhooks.query_revised_webhook import query_revised_webhook
from payments.use_cases.withdrawals.submit_withdrawal import submit_withdrawal

log = get_logger(__name__)

POLL_EVERY_SECONDS = 30.0
# One query of an index that is almost always empty.
QUERY_REVISED_EVERY_SECONDS = 2.0
QUERY_REVISED_IDLE_SECONDS = 4.0
QUERY_UNPAID_EVERY_SECONDS = 5.0
# Staff wait for the result of a response; the index of due ones is almost always empty.
SUBMIT_RESPONSES_EVERY_SECONDS = 5.0
ALERT_DUE_EVERY_SECONDS = 60.0
# After a lost webhook most of the hours of a dispute remain.
QUERY_DISPUTES_EVERY_SECONDS = 900.0
METRICS_EVERY_SECONDS = 300.0
# As often as payouts queries its balance. Without an open alert it makes no call.
RECHECK_KEYS_EVERY_SECONDS = 300.0
# After an upgrade or a rotation payouts wait up to this long for statements of vendors without movements.
ISSUE_EVERY_SECONDS = 15.0
STATEMENTS_BATCH_MAX = 200
# An earlier version credits rewards until the end of an upgrade.
MOVE_REWARDS_EVERY_SECONDS = 600.0
# Only the version before ends a payment without returning its hold.
SWEEP_HOLDS_EVERY_SECONDS = 60.0

# A trial balance reads the entries that the totals do not include: those of a minute.
UPDATE_TOTALS_EVERY_SECONDS = 60.0


async def settle_refunds_once(dependencies: Dependencies) -> int:
    """Poll the gateway for the due refunds; returns how many changed (contract section 7.6)."""
    due = await refunds.list_due_refunds(dependencies.database.reads_for(THE_SERVICE), dependencies.clock.now())
    changed = 0
    for refund_id in due:
        try:
            changed += await poll_refund(dependencies.database, dependencies.gateways, dependencies.clock, refund_id)
        except (GatewayUnavailable, GatewayRejected, MalformedEvent, RefundContradiction) as error:
            log.warning("refund poll failed, retrying later", refund_id=str(refund_id), error=str(error))
    return changed


async def settle_withdrawals_once(dependencies: Dependencies) -> int:
    """Query the gateway about the due withdrawals; returns how many changed (contract section 7.9)."""
    due = await withdrawals.list_due_withdrawals(dependencies.database.reads_for(THE_SERVICE), dependencies.clock.now())
    changed = 0
    for withdrawal_id in due:
        try:
            changed += await submit_withdrawal(
                dependencies.database, dependencies.gateways, dependencies.clock, withdrawal_id
            )
        except (
            GatewayUnavailable,
            GatewayRejected,
            MalformedEvent,
            RefundContradiction,
            WithdrawalOutcomeUnknown,
        ) as error:
            log.warning("withdrawal query failed, retrying later", withdrawal_id=str(withdrawal_id), error=str(error))
    return changed


async def query_revised_webhooks_once(dependencies: Dependencies) -> int:
    """Query the gateway about the due revised webhooks; returns the number of new responses (contract section 9.2)."""
    due = await revisions.list_due_queries(dependencies.database.reads_for(THE_SERVICE), dependencies.clock.now())
    recorded = 0
    for webhook_id in due:
        try:
            recorded += await query_revised_webhook(
                dependencies.database, dependencies.gateways, dependencies.clock, webhook_id
            )
        except (GatewayUnavailable, GatewayRejected) as error:
            log.warning("query for revised webhook failed, retrying later", webhook_id=webhook_id, error=str(error))
    return recorded


async def query_unpaid_attempts_once(dependencies: Dependencies) -> int:
    """Query the gateway about payments whose outcome has not arrived; returns the number of new responses."""
    return await query_unpaid_attempts(dependencies.database, dependencies.gateways, dependencies.clock)


async def submit_responses_once(dependencies: Dependencies) -> int:
    """Submit the due responses to disputes; returns how many are final."""
    due = await chargeback_responses.list_due_responses(
        dependencies.database.reads_for(THE_SERVICE), dependencies.clock.now()
    )
    final = 0
    for response_id in due:
        try:
            final += await submit_response(
                dependencies.database, dependencies.gateways, dependencies.clock, response_id
            )
        except (GatewayUnavailable, GatewayRejected, MalformedEvent) as error:
            log.warning("dispute response failed, retrying later", response_id=str(response_id), error=str(error))
    return final


async def query_disputes_once(dependencies: Dependencies) -> int:
    """Query the gateway for disputes whose webhook has not arrived; returns the number of new states."""
    return sum([await query_disputes(dependencies.database, gateway) for gateway in dependencies.gateways.all()])


async def recheck_rejected_keys_once(dependencies: Dependencies) -> int:
    """Clear the alerts of keys that the gateways accept again; returns how many."""
    return await recheck_rejected_keys(dependencies.database, dependencies.gateways)


async def alert_due_chargebacks_once(dependencies: Dependencies) -> int:
    """Alert finance of open disputes without a response whose date is near; returns the number of alerts."""
    lead = dependencies.chargeback_alert_lead
    due = await chargebacks.list_due_chargebacks(
        dependencies.database.reads_for(THE_SERVICE), dependencies.clock.now() + lead
    )
    alerts = [
        await check_due_chargeback(dependencies.database, dependencies.gateways, dependencies.clock, found, lead)
        for found in due
    ]
    return sum(alerts)


async def reconcile_once(dependencies: Dependencies) -> bool:
    """Reconcile the last days once a day, in one of the workers, and query the disputes that they decided; recheck the
    open cases in between. Whether it reconciled.
    """
    database, gateways, clock = dependencies.database, dependencies.gateways, dependencies.clock
    now = clock.now()
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        is_due = await reconciliation.claim_run(uow, now, now + RUN_LEASE)
    if not is_due:
        await recheck_cases(database, gateways, clock)
        await check_unexplained(database, clock)
        return False
    await reconcile(database, gateways, clock, now - LOOKBACK_PERIOD, now - WEBHOOK_GRACE_PERIOD)
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        await reconciliation.save_next_run(uow, now + DAILY)
    for gateway in gateways.all():
        await query_decided_disputes(database, gateway, now - LOOKBACK_PERIOD)
    return True


async def issue_statements_once(database: Database) -> int:
    """Issue a statement to each vendor who has none under the current key, one per transaction; returns how many."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        vendors = await statements.list_vendors_without_statement(uow, uow.signing_key.id, STATEMENTS_BATCH_MAX)
    issued = 0
    for vendor_id in vendors:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            issued += await issue_statement(uow, vendor_id)
    return issued


async def update_ledger_totals_once(database: Database) -> int:
    """Add the new transactions of the ledger to its totals by day; returns how many."""
    added = 0
    while True:
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            batch = await ledger_totals.add_ledger_totals(uow)
        added += batch
        if batch < ledger_totals.LINKS_PER_BATCH:
            return added


async def sweep_holds_once(dependencies: Dependencies) -> int:
    """Return the holds of ended payments; returns how many."""
    swept = 0
    for reference in await balances.list_left_held(dependencies.database.reads_for(THE_SERVICE)):
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            swept += await sweep_holds(uow, reference, dependencies.clock.now())
    return swept


async def move_rewards_once(dependencies: Dependencies) -> int:
    """Move the rewards of earlier versions to the balances of their users; returns how many. Drop it in the next
    release.
    """
    moved = 0
    while True:
        async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            batch = await move_rewards(uow, dependencies.clock.now())
        moved += batch
        if batch < MOVED_MAX:
            return moved


async def update_metrics_once(database: Database) -> None:
    """Set the gauges of held escrow, the latest audits, dead webhooks and undecided quarantined charges."""
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        ESCROW_LIABILITY_MINOR.set(await sum_held(uow))
        DEAD_WEBHOOKS_WAITING.set(await count_dead_webhooks(uow))
        QUARANTINED_CHARGES_WAITING.set(await count_quarantined_charges(uow))
        is_broken, audited_at = await find_latest_audit(uow)
    AUDIT_BROKEN.set(is_broken)
    if audited_at is not None:
        AUDIT_TIMESTAMP_SECONDS.set(audited_at.timestamp())

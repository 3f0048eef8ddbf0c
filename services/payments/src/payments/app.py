"""The composition root of the payments service."""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from common.database.trail import print_trail
from common.ledger.chain_loops import CHECK_EVERY_SECONDS
from common.observability.logging import get_logger
from common.primitives.clock import read_instant
from common.primitives.cursors import CursorSigner
from common.primitives.signatures import Signatures, SigningKey
from common.primitives.waiting import Wakeups
from common.process.loops import Loop
from common.process.runtime import Runtime, Service
from payments.clients.flutterwave import FlutterwaveGateway
from payments.clients.gateway import CONNECT_SECONDS_MAX, Gateways, PaymentGateway
from payments.clients.paystack import PaystackGateway
from payments.consumers import SUBSCRIPTIONS, WORK
from payments.dependencies import Dependencies
from payments.domain.charges import SurchargeBound
from payments.domain.reconciliation import LOOKBACK_PERIOD, PERIOD_MAX, WEBHOOK_GRACE_PERIOD
from payments.metrics import LEDGER_CHAIN
from payments.queries.own_actions import OWN_ACTIONS
from payments.queries.pending_work import PENDING_WORK
from payments.queries.personal_records import SECTIONS
from payments.queries.webhooks import WEBHOOKS_OF_GATEWAY
from payments.settings import Settings
from payments.store import retention
from payments.streams.webhook_processor import WebhookProcessor
from payments.timers import (
    ALERT_DUE_EVERY_SECONDS,
    ISSUE_EVERY_SECONDS,
    METRICS_EVERY_SECONDS,
    MOVE_REWARDS_EVERY_SECONDS,
    POLL_EVERY_SECONDS,
    QUERY_DISPUTES_EVERY_SECONDS,
    QUERY_REVISED_EVERY_SECONDS,
    QUERY_REVISED_IDLE_SECONDS,
    QUERY_UNPAID_EVERY_SECONDS,
    RECHECK_KEYS_EVERY_SECONDS,
    SUBMIT_RESPONSES_EVERY_SECONDS,
    SWEEP_HOLDS_EVERY_SECONDS,
    UPDATE_TOTALS_EVERY_SECONDS,
    alert_due_chargebacks_once,
    issue_statements_once,
    move_rewards_once,
    query_disputes_once,
    query_revised_webhooks_once,
    query_unpaid_attempts_once,
    recheck_rejected_keys_once,
    reconcile_once,
    settle_refunds_once,
    settle_withdrawals_once,
    submit_responses_once,
    sweep_holds_once,
    update_ledger_totals_once,
    update_metrics_once,
)
from payments.use_cases.escrow.publish_escrows import publish_escrows
from payments.use_cases.gateways.record_rejected_key import record_rejected_key
from payments.use_cases.reconciliation.reconcile import reconcile
from providers.gateways import FLUTTERWAVE, PAYSTACK

log = get_logger(__name__)


@asynccontextmanager
async def compose(
    settings: Settings, runtime: Runtime, *, gateway_connect_seconds_max: float = CONNECT_SECONDS_MAX
) -> AsyncIterator[Dependencies]:
    """Build the dependencies from the settings. Logs an empty webhook secret, because every webhook is then
    rejected.
    """
    if not settings.webhook_secrets:
        log.critical("GATEWAY_SECRET_KEY is empty: every payment webhook gets 401 until it is set")
    runtime.database.signatures = Signatures(signing_key=SigningKey(settings.release_signing_key))
    adapters: list[PaymentGateway] = [
        PaystackGateway(
            settings.gateway_api_url,
            settings.gateway_secret_key,
            connect_seconds_max=gateway_connect_seconds_max,
            on_key_rejected=partial(record_rejected_key, runtime.database, runtime.clock, PAYSTACK),
            transfer_minimum_minor=settings.payout_transfer_minimum_minor,
        )
    ]
    if settings.flutterwave_secret_key:
        adapters.append(
            FlutterwaveGateway(
                settings.flutterwave_api_url,
                settings.flutterwave_secret_key,
                settings.flutterwave_return_url,
                connect_seconds_max=gateway_connect_seconds_max,
                on_key_rejected=partial(record_rejected_key, runtime.database, runtime.clock, FLUTTERWAVE),
                transfer_minimum_minor=settings.payout_transfer_minimum_minor,
            )
        )
    gateways = Gateways(adapters, settings.gateway_provider)
    surcharge_bound = SurchargeBound(settings.charge_surcharge_max_basis_points, settings.charge_surcharge_max_minor)
    webhooks = WebhookProcessor(runtime.database, gateways, surcharge_bound, runtime.clock)
    try:
        yield Dependencies(
            clock=runtime.clock,
            database=runtime.database,
            cursors=CursorSigner(settings.cursor_key),
            gateways=gateways,
            allowed_origins=settings.allowed_origins,
            webhook_secrets=settings.webhook_secrets,
            signature_header=settings.gateway_signature_header,
            flutterwave_webhook_hashes=settings.flutterwave_webhook_hashes,
            surcharge_bound=surcharge_bound,
            webhooks=webhooks,
            placed=Wakeups(),
            webhook_retention=timedelta(days=settings.webhooks_keep_days),
            chargeback_alert_lead=timedelta(hours=settings.chargeback_alert_before_due_hours),
            goodwill_order_max_minor=settings.goodwill_order_max_minor,
            withdrawal_approval_above_minor=settings.balance_withdrawal_two_person_minor,
        )
    finally:
        await webhooks.drain()
        for adapter in adapters:
            await adapter.close()


def loops(dependencies: Dependencies) -> Sequence[Loop]:
    return [
        Loop("settle-refunds", lambda: settle_refunds_once(dependencies), POLL_EVERY_SECONDS),
        Loop("settle-withdrawals", lambda: settle_withdrawals_once(dependencies), POLL_EVERY_SECONDS),
        Loop(
            "query-revised-webhooks",
            lambda: query_revised_webhooks_once(dependencies),
            QUERY_REVISED_EVERY_SECONDS,
            QUERY_REVISED_IDLE_SECONDS,
        ),
        Loop(
            "query-unpaid-payments",
            lambda: query_unpaid_attempts_once(dependencies),
            QUERY_UNPAID_EVERY_SECONDS,
        ),
        Loop(
            "submit-chargeback-responses", lambda: submit_responses_once(dependencies), SUBMIT_RESPONSES_EVERY_SECONDS
        ),
        Loop("query-disputes", lambda: query_disputes_once(dependencies), QUERY_DISPUTES_EVERY_SECONDS),
        Loop("alert-due-chargebacks", lambda: alert_due_chargebacks_once(dependencies), ALERT_DUE_EVERY_SECONDS),
        Loop("recheck-rejected-keys", lambda: recheck_rejected_keys_once(dependencies), RECHECK_KEYS_EVERY_SECONDS),
        *LEDGER_CHAIN.loops(dependencies.database, dependencies.clock),
        Loop("update-payment-metrics", lambda: update_metrics_once(dependencies.database), METRICS_EVERY_SECONDS),
        Loop("issue-statements", lambda: issue_statements_once(dependencies.database), ISSUE_EVERY_SECONDS),
        Loop("move-rewards", lambda: move_rewards_once(dependencies), MOVE_REWARDS_EVERY_SECONDS),
        Loop("sweep-holds", lambda: sweep_holds_once(dependencies), SWEEP_HOLDS_EVERY_SECONDS),
        Loop(
            "update-ledger-totals",
            lambda: update_ledger_totals_once(dependencies.database),
            UPDATE_TOTALS_EVERY_SECONDS,
        ),
        Loop("reconcile-gateway", lambda: reconcile_once(dependencies), CHECK_EVERY_SECONDS),
    ]


async def verify_ledger_command(dependencies: Dependencies, *earlier: str) -> None:
    """`verify-ledger [<length> <head>]`: verify the hash chain; status 1 and the first broken row on failure.

    With the length and head of an earlier report, that link must be unchanged.
    """
    await LEDGER_CHAIN.verify_by_command(dependencies.database, *earlier)


async def publish_escrows_command(dependencies: Dependencies) -> None:
    """Run `python -m payments publish-escrows`."""
    sys.stdout.write(f"published {await publish_escrows(dependencies.database)} escrows\n")


async def reconcile_command(dependencies: Dependencies, *arguments: str) -> None:
    """`reconcile [--from <instant>] [--to <instant>]`: the last 7 days, or at most 92; status 1 while a case is
    open.
    """
    now = dependencies.clock.now()
    parser = argparse.ArgumentParser(prog="reconcile")
    parser.add_argument("--from", dest="start", type=read_instant, default=now - LOOKBACK_PERIOD)
    parser.add_argument("--to", dest="end", type=read_instant, default=now - WEBHOOK_GRACE_PERIOD)
    period = parser.parse_args(arguments)
    if not period.start < period.end <= period.start + PERIOD_MAX:
        parser.error(f"--to must be later than --from, and at most {PERIOD_MAX.days} days")
    done = await reconcile(dependencies.database, dependencies.gateways, dependencies.clock, period.start, period.end)
    sys.stdout.write(
        f"{done.differences} differences, {done.opened} new cases, {done.recovered} missing webhooks recovered; "
        f"{done.unexplained.cases} cases open, {done.unexplained.minor} kobo\n"
    )
    if done.settled_minor:
        sys.stdout.write(
            f"The gateway settled {done.settled_minor} kobo to the bank: automatic settlement is on. Payouts are paid "
            "from the gateway's balance; turn automatic settlement off in its dashboard.\n"
        )
    if done.unexplained.cases:
        sys.exit(1)


async def webhook_trail_command(dependencies: Dependencies, gateway: str, since: str, until: str) -> None:
    """Run `python -m payments webhook-trail GATEWAY SINCE UNTIL`."""
    if gateway not in (PAYSTACK, FLUTTERWAVE):
        sys.exit(f"no gateway {gateway}: {PAYSTACK} or {FLUTTERWAVE}")
    await print_trail(dependencies.database, WEBHOOKS_OF_GATEWAY, since, until, gateway)


SERVICE = Service(
    name="payments",
    settings=Settings,
    compose=compose,
    routes="payments.routes",
    personal_records=SECTIONS,
    pending_work=PENDING_WORK,
    own_actions=OWN_ACTIONS,
    subscriptions=SUBSCRIPTIONS,
    lock_by=("vendor_id", "order_id"),
    work_items=WORK,
    loops=loops,
    retention_rules=lambda dependencies: retention.retention_rules(dependencies.webhook_retention),
    commands={
        "verify-ledger": verify_ledger_command,
        "verify-book": verify_ledger_command,  # Its name in earlier releases.
        "reconcile": reconcile_command,
        "publish-escrows": publish_escrows_command,
        "webhook-trail": webhook_trail_command,
    },
)

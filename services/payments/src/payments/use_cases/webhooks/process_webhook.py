"""Process a queued webhook once: money, projection, events and outcome commit together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.observability.telemetry import STALE_EVENTS
from payments.clients.gateway import Gateways
from payments.domain.chargebacks import ChargebackUpdate
from payments.domain.charges import Charge, SurchargeBound
from payments.domain.identifiers import attempt_of_reference, withdrawal_of_reference
from payments.domain.refunds import RefundEvent, RefundUpdate, refund_of_transfer
from payments.domain.revisions import is_gateway_response
from payments.domain.transfers import TransferUpdate
from payments.domain.webhooks import ReportSource
from payments.store import webhooks, withdrawals
from payments.store.refunds import lock_refund_of_attempt
from payments.use_cases.chargebacks.record_dispute import record_dispute
from payments.use_cases.charges.steps import settle_charge
from payments.use_cases.intents.record_failed_payment import record_failed_payment
from payments.use_cases.refunds.record_refund_update import record_refund_update
from payments.use_cases.webhooks.steps import publish_transfer_update
from payments.use_cases.withdrawals.record_transfer import record_transfer

Outcome = Literal["done", "ignored"]
QueriedReport = Charge | RefundUpdate | TransferUpdate | ChargebackUpdate


@dataclass(frozen=True, slots=True)
class Webhook:
    """A locked webhook. The last attempt decides also about unknown subjects."""

    id: str
    event_type: str
    arrived_at: datetime
    surcharge_bound: SurchargeBound
    is_last_attempt: bool
    source: ReportSource


@dataclass(frozen=True, slots=True)
class WebhookAttempt:
    """An attempt to process a webhook; `is_queried` after the gateway was queried for the webhook's subject.

    `refunds` are the queried states for a webhook that only names a transaction. A processed webhook needs no message
    for its unpublished work item `work_item_id`.
    """

    webhook_id: str
    is_last: bool
    refunds: Sequence[RefundUpdate] | None = None
    is_queried: bool = False
    work_item_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class WebhookResult:
    """The result; `outcome` is None for a webhook that was processed before, and for one about refunds to query
    first.
    """

    event_type: str
    outcome: Outcome | None
    known_events: frozenset[str]
    refund_event: RefundEvent | None = None

    @property
    def metric_labels(self) -> tuple[str, str]:
        """Event type and outcome. A type that the gateway does not document counts as `other`."""
        return self.event_type if self.event_type in self.known_events else "other", self.outcome or "repeated"


async def process_webhook(
    uow: UnitOfWork, gateways: Gateways, surcharge_bound: SurchargeBound, attempt: WebhookAttempt, now: datetime
) -> WebhookResult:
    """Process a webhook unless it has an outcome. Without the queried states of its refunds it is returned unprocessed.

    Raises retryable errors, MalformedEvent, and DisputeUnconfirmed unless the gateway was queried.
    """
    webhook_id = attempt.webhook_id
    locked = await webhooks.lock_webhook(uow, webhook_id)
    if locked is None:
        raise LookupError(f"work item of webhook {webhook_id}, which is not recorded")
    gateway = gateways.of(locked.gateway)
    if locked.outcome != "queued":
        return WebhookResult(locked.event_type, None, gateway.known_events)
    is_final = is_gateway_response(webhook_id) or gateway.subject_of(locked.event_type, locked.raw) is None
    source: ReportSource = "gateway" if is_final else "queried_webhook" if attempt.is_queried else "webhook"
    webhook = Webhook(webhook_id, locked.event_type, locked.arrived_at, surcharge_bound, attempt.is_last, source)
    report = gateway.read_event(webhook_id, locked.event_type, locked.raw)
    if isinstance(report, RefundEvent):
        if attempt.refunds is None:
            return WebhookResult(webhook.event_type, None, gateway.known_events, report)
        changed = any([await record_refund_update(uow, update, now) for update in attempt.refunds])
        outcome: Outcome = "done" if changed else "ignored"
        await _save_outcome(uow, attempt, outcome)
    else:
        outcome = await _record_with_outcome(uow, attempt, webhook, report, now)
    return WebhookResult(webhook.event_type, outcome, gateway.known_events)


async def _record_with_outcome(
    uow: UnitOfWork, attempt: WebhookAttempt, webhook: Webhook, report: QueriedReport | None, now: datetime
) -> Outcome:
    """Record the report and its outcome. The outcome of a successful charge is a part of its statement."""
    if attempt.work_item_id is None or not isinstance(report, Charge) or report.status != "success":
        outcome: Outcome = "done" if await _record(uow, webhook, report, now) else "ignored"
        await _save_outcome(uow, attempt, outcome)
        return outcome
    done = webhooks.save_outcome_with_next(uow, webhook.id, "done", attempt.work_item_id)
    if await _record(uow, webhook, report, now):
        return "done"
    if uow.withdraw(done):
        await _save_outcome(uow, attempt, "ignored")
    else:
        await webhooks.save_outcome(uow, webhook.id, "ignored")
    return "ignored"


async def _save_outcome(uow: UnitOfWork, attempt: WebhookAttempt, outcome: Outcome) -> None:
    if attempt.work_item_id is None:
        await webhooks.save_outcome(uow, attempt.webhook_id, outcome)
    else:
        webhooks.save_outcome_with_next(uow, attempt.webhook_id, outcome, attempt.work_item_id)


async def _record(uow: UnitOfWork, webhook: Webhook, report: QueriedReport | None, now: datetime) -> bool:
    """Return whether the report changed anything."""
    match report:
        case Charge():
            return await _record_charge(uow, webhook, report, now)
        case RefundUpdate():
            return await record_refund_update(uow, report, now)
        case TransferUpdate():
            return await _record_transfer(uow, webhook, report, now)
        case ChargebackUpdate():
            return await record_dispute(uow, webhook.event_type, report, webhook.source, now)
        case None:
            return False


async def _record_charge(uow: UnitOfWork, webhook: Webhook, charge: Charge, now: datetime) -> bool:
    is_last = webhook.is_last_attempt
    if charge.status == "success":
        verdict = await settle_charge(
            uow, webhook.id, charge, webhook.surcharge_bound, is_last_attempt=is_last, now=now
        )
        return verdict is not None
    if charge.status == "failed":
        return await record_failed_payment(uow, charge, is_last_attempt=is_last, now=now)
    STALE_EVENTS.labels(webhook.event_type).inc()
    return False


async def _record_transfer(uow: UnitOfWork, webhook: Webhook, transfer: TransferUpdate, now: datetime) -> bool:
    # A transfer under the reference of a refund attempt or a withdrawal is payments' own. The reference was committed
    # before the call.
    attempt_id = attempt_of_reference(transfer.reference)
    if attempt_id is not None and await lock_refund_of_attempt(uow, attempt_id) is not None:
        return await record_refund_update(uow, refund_of_transfer(transfer), now)
    withdrawal_id = withdrawal_of_reference(transfer.reference)
    if withdrawal_id is not None and await withdrawals.lock_withdrawal(uow, withdrawal_id) is not None:
        return await record_transfer(uow, withdrawal_id, refund_of_transfer(transfer), now)
    publish_transfer_update(uow, webhook.id, transfer, webhook.arrived_at)
    return True

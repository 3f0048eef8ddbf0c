"""Process a queued webhook once: money, projection, events and outcome commit together."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from common.database.unit_of_work import UnitOfWork
from payments.domain.charges import SurchargeBound
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import read_refund, read_refund_transfer
from payments.domain.webhooks import data_of, read_body, text_of
from payments.store import webhooks
from payments.store.refunds import lock_refund_of_attempt
from payments.use_cases.chargebacks.record_chargeback_update import record_chargeback_update
from payments.use_cases.charges.settle_charge import settle_charge
from payments.use_cases.intents.record_failed_payment import record_failed_payment
from payments.use_cases.refunds.record_refund_update import record_refund_update
from payments.use_cases.webhooks.publish_transfer_update import publish_transfer_update

Outcome = Literal["done", "ignored"]


@dataclass(frozen=True, slots=True)
class Webhook:
    """A locked webhook. The last attempt decides also about unknown subjects."""

    id: str
    event_type: str
    data: Mapping[str, Any]
    arrived_at: datetime
    surcharge_bound: SurchargeBound
    is_last_attempt: bool


@dataclass(frozen=True, slots=True)
class WebhookResult:
    """The result; `outcome` is None for a webhook that was processed before."""

    event_type: str
    outcome: Outcome | None


Handler = Callable[[UnitOfWork, Webhook, datetime], Awaitable[Outcome]]


async def process_webhook(
    uow: UnitOfWork, webhook_id: str, surcharge_bound: SurchargeBound, *, is_last_attempt: bool, now: datetime
) -> WebhookResult:
    """Process a webhook unless it has an outcome. Raises retryable errors, and MalformedEvent."""
    locked = await webhooks.lock_webhook(uow, webhook_id)
    if locked is None:
        raise LookupError(f"work item of webhook {webhook_id}, which is not recorded")
    if locked.outcome != "queued":
        return WebhookResult(locked.event_type, None)
    data = data_of(read_body(locked.raw))
    webhook = Webhook(webhook_id, locked.event_type, data, locked.arrived_at, surcharge_bound, is_last_attempt)
    outcome = await _HANDLERS.get(webhook.event_type, _ignore)(uow, webhook, now)
    await webhooks.save_outcome(uow, webhook_id, outcome)
    return WebhookResult(webhook.event_type, outcome)


async def _charge(uow: UnitOfWork, webhook: Webhook, now: datetime) -> Outcome:
    verdict = await settle_charge(
        uow, webhook.id, webhook.data, webhook.surcharge_bound, is_last_attempt=webhook.is_last_attempt, now=now
    )
    return "ignored" if verdict is None else "done"


async def _failed_payment(uow: UnitOfWork, webhook: Webhook, now: datetime) -> Outcome:
    failed = await record_failed_payment(uow, webhook.data, is_last_attempt=webhook.is_last_attempt, now=now)
    return "done" if failed else "ignored"


async def _chargeback(uow: UnitOfWork, webhook: Webhook, now: datetime) -> Outcome:
    moved = await record_chargeback_update(uow, webhook.event_type, webhook.data, now)
    return "done" if moved else "ignored"


async def _refund(uow: UnitOfWork, webhook: Webhook, now: datetime) -> Outcome:
    update = read_refund(webhook.data, webhook.event_type.removeprefix("refund."))
    return "done" if await record_refund_update(uow, update, now) else "ignored"


async def _transfer(uow: UnitOfWork, webhook: Webhook, now: datetime) -> Outcome:
    # A transfer under the reference of a refund attempt is payments' own. The reference was committed before the call.
    attempt_id = attempt_of_reference(text_of(webhook.data.get("reference")))
    if attempt_id is not None and await lock_refund_of_attempt(uow, attempt_id) is not None:
        update = read_refund_transfer(webhook.data, webhook.event_type.removeprefix("transfer."))
        return "done" if await record_refund_update(uow, update, now) else "ignored"
    publish_transfer_update(uow, webhook.id, webhook.event_type, webhook.data, webhook.arrived_at)
    return "done"


async def _ignore(uow: UnitOfWork, webhook: Webhook, now: datetime) -> Outcome:
    return "ignored"


_HANDLERS: Final[Mapping[str, Handler]] = {
    "charge.success": _charge,
    "charge.failed": _failed_payment,
    "charge.dispute.create": _chargeback,
    "charge.dispute.remind": _chargeback,
    "charge.dispute.resolve": _chargeback,
    "refund.processed": _refund,
    "refund.failed": _refund,
    "transfer.success": _transfer,
    "transfer.failed": _transfer,
    "transfer.reversed": _transfer,
}

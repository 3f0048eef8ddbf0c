"""Reads of a buyer's balance, and rewards, for the tests of it."""

from typing import Any
from uuid import UUID

from common.primitives.ids import new_id
from contracts.identity import EmailConfirmed
from operations.audit.invariants import INVARIANTS
from payments.domain.refunds import RequestedRefund
from payments.use_cases.refunds.refund_order import refund_order

from .conftest import PaymentsApp

_RULES = [line for line in INVARIANTS if line.service == "payments"]


async def check_audit(app: PaymentsApp) -> None:
    """No invariant of the audit is violated."""
    for rule in _RULES:
        assert await app.fetch(rule.offending) == [], rule.rule
    await app.check_ledger()


async def _read(app: PaymentsApp, path: str, user: UUID | None) -> Any:
    response = await app.client.get(path, headers=app.headers(user or app.buyer))
    assert response.status_code == 200, response.text
    return response.json()["data"]


async def balance_of(app: PaymentsApp, user: UUID | None = None) -> dict[str, Any]:
    return dict(await _read(app, "/api/balance", user))


async def statement_of(app: PaymentsApp, user: UUID | None = None) -> list[dict[str, Any]]:
    return list(await _read(app, "/api/balance/statement?limit=100", user))


async def credit_refund(app: PaymentsApp, amount_minor: int) -> None:
    """Credit the refund of another order, which its buyer chose to leave here."""
    placed = await app.paid_order(total_minor=amount_minor, commission_minor=0, delivery_fee_minor=0)
    requested = RequestedRefund(placed.order_id, new_id(), amount_minor, "cancelled", is_all_to_balance=True)
    async with app.unit_of_work() as uow:
        await refund_order(uow, requested, app.clock.now())


async def credit_reward(app: PaymentsApp, amount_minor: int, user: UUID | None = None) -> None:
    confirmed_at = "2026-01-01T00:00:00.000Z"
    await app.receive(
        EmailConfirmed(user_id=user or app.buyer, confirmed_at=confirmed_at, referral_reward_minor=amount_minor)
    )

"""A buyer's balance: its statement, and the rewards that earlier versions credited (contract section 7.9)."""

from typing import Any
from uuid import UUID, uuid4

from common.auth.caller import THE_SERVICE
from common.ledger import posting as ledger
from common.ledger.posting import credit, debit
from contracts.identity import EmailConfirmed
from payments.domain import accounts
from payments.domain.transaction_types import transaction
from payments.timers import move_rewards_once

from .balances import balance_of, credit_reward, statement_of
from .conftest import PaymentsApp


async def _post_as_an_earlier_version(app: PaymentsApp, user_id: UUID, amount_minor: int) -> None:
    entries = [debit(accounts.REFERRAL_EXPENSE, amount_minor), credit(accounts.buyer_reward(user_id), amount_minor)]
    async with app.dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await ledger.post(uow, transaction(f"referral_reward:{user_id}", "referral_reward", entries))


async def test_a_reward_is_a_line_of_the_balance(app: PaymentsApp) -> None:
    assert await balance_of(app) == {"availableMinor": 0, "heldMinor": 0, "currency": "NGN"}
    await credit_reward(app, 50_000)
    assert await balance_of(app) == {"availableMinor": 50_000, "heldMinor": 0, "currency": "NGN"}
    [line] = await statement_of(app)
    assert (line["kind"], line["orderId"], line["amountMinor"]) == ("reward", None, 50_000)
    assert line["balanceMinor"] == 50_000
    assert await balance_of(app, uuid4()) == {"availableMinor": 0, "heldMinor": 0, "currency": "NGN"}
    assert await statement_of(app, uuid4()) == []


async def test_the_statement_is_read_in_pages_of_its_owner_only(app: PaymentsApp) -> None:
    await credit_reward(app, 50_000)
    async with app.unit_of_work() as uow:
        for number in range(4):
            await uow.execute(
                "WITH b AS (UPDATE buyer_balances SET line_count = line_count + 1, refunds_minor = refunds_minor + 5) "
                "INSERT INTO balance_lines VALUES (gen_random_uuid(), $1, $2, 'refund', NULL, 5, 0, $3, now())",
                app.buyer,
                number + 2,
                50_005 + 5 * number,
            )
    read: list[Any] = []
    cursor = ""
    while True:
        page = (await app.client.get(f"/api/balance/statement?limit=2{cursor}", headers=app.headers(app.buyer))).json()
        read += page["data"]
        if not page["meta"]["has_more"]:
            break
        cursor = f"&cursor={page['meta']['next_cursor']}"
        foreign = await app.client.get(f"/api/balance/statement?limit=2{cursor}", headers=app.headers(uuid4()))
        assert foreign.status_code == 422
    assert [line["balanceMinor"] for line in read] == [50_020, 50_015, 50_010, 50_005, 50_000]


async def test_rewards_of_an_earlier_version_move_once_to_the_balance(app: PaymentsApp) -> None:
    users = [uuid4(), app.buyer]
    for user_id in users:
        await _post_as_an_earlier_version(app, user_id, 50_000)
    assert (await move_rewards_once(app.dependencies), await move_rewards_once(app.dependencies)) == (2, 0)
    assert await app.balances() == {
        "referral_expense": 100_000,
        f"buyer_balance:{users[0]}": -50_000,
        f"buyer_balance:{users[1]}": -50_000,
    }
    assert (await balance_of(app))["availableMinor"] == 50_000
    assert [line["kind"] for line in await statement_of(app)] == ["reward"]


async def test_a_reward_of_an_earlier_version_is_not_credited_again(app: PaymentsApp) -> None:
    await _post_as_an_earlier_version(app, app.buyer, 50_000)
    confirmed = EmailConfirmed(user_id=app.buyer, confirmed_at="2026-01-01T00:00:00.000Z", referral_reward_minor=50_000)
    await app.receive(confirmed)
    await move_rewards_once(app.dependencies)
    await app.receive(confirmed)
    assert (await balance_of(app))["availableMinor"] == 50_000


async def test_money_of_other_accounts_is_no_reward_of_an_earlier_version(app: PaymentsApp) -> None:
    await app.paid_order()
    assert await move_rewards_once(app.dependencies) == 0
    assert (await balance_of(app))["availableMinor"] == 0

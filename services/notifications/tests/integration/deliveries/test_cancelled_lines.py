"""The buyer's notice of a cancelled line."""

from common.primitives.ids import new_id
from contracts.orders import OrderLineCancelled

from ..conftest import Scenario
from ..providers import Providers, text_of


async def test_the_buyer_reads_which_item_is_cancelled_and_why(scenario: Scenario, providers: Providers) -> None:
    await scenario.project_users()
    event = OrderLineCancelled(
        **scenario.parties,
        item_id=new_id(),
        product_name="Ofada rice",
        quantity=2,
        amount_minor=40_000,
        reason="Sold out at the counter",
        cancelled_at="2026-01-01T10:00:00.000Z",
        number="CM-R80T-M2NG",
    )
    await scenario.receive_twice(event)
    await scenario.send_queued()
    [mail] = providers.mails
    assert mail["Subject"] == "One item of your order CM-R80T-M2NG is cancelled"
    for words in ("Ofada rice", "Sold out at the counter", "₦400.00 goes back to you"):
        assert words in text_of(mail)
    [row] = await scenario.fetch("SELECT user_id, body FROM notifications")
    assert row["user_id"] == scenario.buyer_id
    assert "Ofada rice" in row["body"]

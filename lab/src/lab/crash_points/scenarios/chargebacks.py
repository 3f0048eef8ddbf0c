"""A payer's bank asks for the money back."""

from lab.crash_points.marketplace import Marketplace
from lab.crash_points.scenarios.steps import NET_MINOR, End, Given, added, order_of, refunds_of, wallet
from lab.crash_points.users import CHECKER, SUPPORT


async def lost(market: Marketplace, order: Given) -> End:
    """After the release the vendor's share is held, and taken when the dispute is lost."""
    before = await wallet(market)
    await _dispute(market, order, "lose")

    async def end() -> None:
        assert added(before, await wallet(market)) == {"availableMinor": -NET_MINOR}
        assert (await order_of(market, order))["status"] == "paid"

    return end


async def won(market: Marketplace, order: Given) -> End:
    """After the release the vendor's share is held, and free again when the dispute is won."""
    before = await wallet(market)
    await _dispute(market, order, "win")

    async def end() -> None:
        assert added(before, await wallet(market)) == {}
        assert (await order_of(market, order))["status"] == "paid"

    return end


async def before_delivery(market: Marketplace, order: Given) -> End:
    """Freeze the order; what the bank took is not refunded a second time."""
    before = await wallet(market)
    await _dispute(market, order, "lose")
    resolution = await market.post(f"/api/orders/{order['id']}/resolve", SUPPORT, {"outcome": "buyer"})
    approve = f"/api/dispute-resolutions/{resolution['resolutionId']}/approve"
    await market.post(approve, CHECKER, {"hash": resolution["hash"]})
    await market.run_until_idle()

    async def end() -> None:
        assert (await order_of(market, order))["status"] == "refunded"
        assert await refunds_of(market, order) == []
        assert added(before, await wallet(market)) == {"lockedMinor": -NET_MINOR}

    return end


async def _dispute(market: Marketplace, order: Given, outcome: str) -> None:
    opened = await market.act(f"charges/{order['reference']}/dispute")
    await market.run_until_idle()
    await market.act(f"disputes/{opened['id']}/{outcome}")
    await market.run_until_idle()

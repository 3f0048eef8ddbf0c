"""Payouts: sent, failed, reversed, without a response, and stopped."""

from collections.abc import Sequence
from typing import Any, Final

from contracts.demo import ADA
from lab.stepped.actions import (
    APPROVE_RECONCILIATION,
    DISPATCH_PAYOUTS,
    RESET_PAYOUT,
    Facts,
    reconcile,
    set_bank_details,
    wallet,
)
from lab.stepped.actors import CHECKER, MAKER, OPS, VENDOR
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios.steps import PRICE_MINOR, End, added, delivered_order, unique_minor

_AMOUNT_MINOR: Final = 20_000


async def funds(market: Marketplace) -> Facts:
    """Return a wallet that covers a payout."""
    while (await wallet(market))["availableMinor"] < PRICE_MINOR:
        await delivered_order(market)
    return {"amountMinor": unique_minor(_AMOUNT_MINOR)}


async def success(market: Marketplace, given: Facts) -> End:
    """Request, send and confirm a payout."""
    before = await wallet(market)
    payout = await _submitted(market, given)
    await _bank(market, given, "succeed")
    return _processed(market, given, payout, before)


async def unknown(market: Marketplace, given: Facts) -> End:
    """Fail the call for the transfer after the gateway accepted it: a query finds it."""
    before = await wallet(market)
    await market.sandbox.set_faults(transfer_call={"error_after": True, "times": 1, "match": given["amountMinor"]})
    payout = await _submitted(market, given)
    await market.time_passes()
    await _bank(market, given, "succeed")
    return _processed(market, given, payout, before)


async def late_result(market: Marketplace, given: Facts) -> End:
    """Fail the call for the transfer, and the bank's result arrives before any query."""
    before = await wallet(market)
    await market.sandbox.set_faults(transfer_call={"error_after": True, "times": 1, "match": given["amountMinor"]})
    payout = await _request(market, given)
    await DISPATCH_PAYOUTS.post(market, MAKER, {}, payoutIds=[payout["id"]])
    await _bank(market, given, "succeed")
    return _processed(market, given, payout, before)


async def failed_and_reset(market: Marketplace, given: Facts) -> End:
    """Reject the transfer as the bank; operations send it again under a new reference."""
    before = await wallet(market)
    payout = await _submitted(market, given)
    await _bank(market, given, "fail")
    await RESET_PAYOUT.run(market, OPS, payout)
    await market.time_passes()
    await _bank(market, given, "succeed")
    processed = _processed(market, given, payout, before, ("failed", "success"))

    async def end() -> None:
        await _bank(market, given, "succeed")
        await processed()

    return end


async def reversed_and_reconciled(market: Marketplace, given: Facts) -> End:
    """Return the money as the bank; two of finance credit the wallet."""
    before = await wallet(market)
    payout = await _submitted(market, given)
    await _bank(market, given, "succeed")
    await _bank(market, given, "reverse")
    await APPROVE_RECONCILIATION.run(market, CHECKER, await reconcile(market, payout["id"]))
    return _processed(market, given, payout, before, ("reversed",), change={})


async def bank_details_quarantined(market: Marketplace, given: Facts) -> End:
    """Return a payout that was never sent to the wallet once."""
    before = await wallet(market)
    payout = await _request(market, given)
    body = {"reason": "reported as stolen", "payoutId": payout["id"]}
    await market.post(f"/api/vendors/{ADA.id}/bank-details/quarantine", MAKER, body)
    await market.run_until_idle()

    async def end() -> None:
        found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
        assert found["status"] == "failed", found
        assert await _transfers(market, given) == []
        assert added(before, await wallet(market)) == {}
        # A quarantined account cannot be set again: the next run needs another one.
        await set_bank_details(market, VENDOR, f"{given['amountMinor']:010d}", ADA.legal_name)
        await market.run_until_idle()

    return end


async def _request(market: Marketplace, given: Facts) -> Facts:
    payout = await market.post("/api/payouts", VENDOR, {"amountMinor": given["amountMinor"]})
    await market.run_until_idle()
    return dict(payout)


async def _submitted(market: Marketplace, given: Facts) -> Facts:
    payout = await _request(market, given)
    await DISPATCH_PAYOUTS.run(market, MAKER, {}, payoutIds=[payout["id"]])
    return payout


async def _transfers(market: Marketplace, given: Facts) -> list[dict[str, Any]]:
    """Return the gateway's transfers of this payout, which alone has this amount."""
    return [line for line in await market.sandbox.listed("transfer") if line["amount"] == given["amountMinor"]]


async def _bank(market: Marketplace, given: Facts, action: str) -> None:
    """Do this as the bank with the transfer, if it can; the webhook arrives."""
    status = "success" if action == "reverse" else "pending"
    for _ in range(3):
        transfers = [line for line in await _transfers(market, given) if line["status"] == status]
        if transfers:
            break
        # A dead dispatcher leaves the transfer to a timer.
        await market.time_passes()
    for transfer in transfers:
        await market.sandbox.act(f"transfers/{transfer['reference']}/{action}")
    await market.run_until_idle()


def _processed(
    market: Marketplace,
    given: Facts,
    payout: Facts,
    before: Facts,
    transfers: Sequence[str] = ("success",),
    *,
    change: dict[str, int] | None = None,
) -> End:
    """Check that the payout is processed, the states of its transfers, and one change of the wallet."""

    async def end() -> None:
        found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
        assert (found["status"], found["openException"]) == ("processed", None), found
        states = sorted(line["status"] for line in await _transfers(market, given))
        assert states == sorted(transfers), states
        expected = {"availableMinor": -given["amountMinor"]} if change is None else change
        assert added(before, await wallet(market)) == expected

    return end

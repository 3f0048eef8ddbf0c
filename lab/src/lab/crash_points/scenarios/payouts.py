"""Payouts: sent, failed, reversed, without an answer, and stopped."""

from typing import Any, Final

from contracts.demo import ADA
from lab.crash_points.marketplace import Marketplace
from lab.crash_points.scenarios.orders import delivered_order
from lab.crash_points.scenarios.steps import PRICE_MINOR, End, Given, added, unique_minor, wallet
from lab.crash_points.users import CHECKER, MAKER, OPS, VENDOR

_AMOUNT_MINOR: Final = 20_000
_BANK_DETAILS: Final = f"/api/vendors/{ADA.id}/bank-details"


async def funds(market: Marketplace) -> Given:
    """Return a wallet that covers a payout."""
    while (await wallet(market))["availableMinor"] < PRICE_MINOR:
        await delivered_order(market)
    return {"amountMinor": unique_minor(_AMOUNT_MINOR)}


async def success(market: Marketplace, given: Given) -> End:
    """Request, send and confirm a payout."""
    before = await wallet(market)
    payout = await _submitted(market, given)
    await _bank(market, given, "succeed")
    return _processed_once(market, given, payout, before)


async def unknown(market: Marketplace, given: Given) -> End:
    """Return the call for the transfer fails after the gateway accepted it: a query finds it."""
    before = await wallet(market)
    await market.faults(transfer_call={"error_after": True, "times": 1, "match": given["amountMinor"]})
    payout = await _submitted(market, given)
    await market.time_passes()
    await _bank(market, given, "succeed")
    return _processed_once(market, given, payout, before)


async def late_result(market: Marketplace, given: Given) -> End:
    """Return the call for the transfer fails, and the bank's result arrives before any query."""
    before = await wallet(market)
    await market.faults(transfer_call={"error_after": True, "times": 1, "match": given["amountMinor"]})
    payout = await _request(market, given)
    await market.post("/api/payouts/dispatch", MAKER, {"payoutIds": [payout["id"]]})
    await _bank(market, given, "succeed")
    return _processed_once(market, given, payout, before)


async def failed_and_reset(market: Marketplace, given: Given) -> End:
    """Reject the transfer as the bank; operations send it again under a new reference."""
    before = await wallet(market)
    payout = await _submitted(market, given)
    await _bank(market, given, "fail")
    await market.post(f"/api/payouts/{payout['id']}/reset", OPS, {"reason": "the bank's switch was down"})
    await market.run_until_idle()
    await market.time_passes()
    await _bank(market, given, "succeed")

    async def end() -> None:
        await _bank(market, given, "succeed")
        found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
        assert (found["status"], found["openException"]) == ("processed", None), found
        transfers = await _transfers(market, given)
        assert sorted(line["status"] for line in transfers) == ["failed", "success"], transfers
        assert added(before, await wallet(market)) == {"availableMinor": -given["amountMinor"]}

    return end


async def reversed_and_reconciled(market: Marketplace, given: Given) -> End:
    """Return the money as the bank; two of finance credit the wallet."""
    before = await wallet(market)
    payout = await _submitted(market, given)
    await _bank(market, given, "succeed")
    await _bank(market, given, "reverse")
    path = f"/api/payouts/{payout['id']}/reconciliations"
    prepared = await market.post(path, MAKER, {"reason": "the bank returned it"})
    await market.post(f"/api/reconciliations/{prepared['id']}/approve", CHECKER, {"hash": prepared["hash"]})
    await market.run_until_idle()

    async def end() -> None:
        found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
        assert (found["status"], found["openException"]) == ("processed", None), found
        assert [line["status"] for line in await _transfers(market, given)] == ["reversed"]
        assert added(before, await wallet(market)) == {}

    return end


async def bank_details_quarantined(market: Marketplace, given: Given) -> End:
    """Return a payout that was never sent returns to the wallet once."""
    before = await wallet(market)
    payout = await _request(market, given)
    body = {"reason": "reported as stolen", "payoutId": payout["id"]}
    await market.post(f"{_BANK_DETAILS}/quarantine", MAKER, body)
    await market.run_until_idle()

    async def end() -> None:
        found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
        assert found["status"] == "failed", found
        assert await _transfers(market, given) == []
        assert added(before, await wallet(market)) == {}
        # A quarantined account cannot be set again: the next run needs another one.
        account_number = f"{given['amountMinor']:010d}"
        await market.name_account("058", account_number, ADA.legal_name)
        await market.put(_BANK_DETAILS, VENDOR, {"accountNumber": account_number, "bankCode": "058"})
        await market.run_until_idle()

    return end


async def _request(market: Marketplace, given: Given) -> dict[str, Any]:
    payout = await market.post("/api/payouts", VENDOR, {"amountMinor": given["amountMinor"]})
    await market.run_until_idle()
    return dict(payout)


async def _submitted(market: Marketplace, given: Given) -> dict[str, Any]:
    payout = await _request(market, given)
    await market.post("/api/payouts/dispatch", MAKER, {"payoutIds": [payout["id"]]})
    await market.run_until_idle()
    return payout


async def _transfers(market: Marketplace, given: Given) -> list[dict[str, Any]]:
    """Return the gateway's transfers of this payout, which alone has this amount."""
    return [line for line in await market.listed("transfer") if line["amount"] == given["amountMinor"]]


async def _bank(market: Marketplace, given: Given, action: str) -> None:
    """Do this as the bank with the transfer, if it can; the webhook arrives."""
    status = "success" if action == "reverse" else "pending"
    for _ in range(3):
        transfers = [line for line in await _transfers(market, given) if line["status"] == status]
        if transfers:
            break
        # A dead dispatcher leaves the transfer to a timer.
        await market.time_passes()
    for transfer in transfers:
        await market.act(f"transfers/{transfer['reference']}/{action}")
    await market.run_until_idle()


def _processed_once(market: Marketplace, given: Given, payout: dict[str, Any], before: dict[str, Any]) -> End:
    async def end() -> None:
        found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
        assert (found["status"], found["openException"]) == ("processed", None), found
        assert [line["status"] for line in await _transfers(market, given)] == ["success"]
        assert added(before, await wallet(market)) == {"availableMinor": -given["amountMinor"]}

    return end

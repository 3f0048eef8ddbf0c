"""Faults of the payment gateway and of banks."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from contracts.demo import ADA
from operations.campusctl.commands.on_the_machine import audit
from operations.campusctl.exits import Refused
from operations.drills.scene import Scene
from operations.journey import Marketplace, StepFailed

_BUYER: Final = "buyer@unilag.edu.ng"
_VENDOR: Final = "vendor@unilag.edu.ng"
# Above the gateway's smallest transfer; the odd rest makes the amount that of this payout alone.
_PAYOUT_MINOR: Final = 10_000
_REJECTED: Final = 401
# Payments may still verify a newer charge.
_SETTLED_AFTER: Final = timedelta(minutes=5)


def plant_changed_charge(scene: Scene) -> None:
    """Let the gateway report a charge with another amount, and audit."""
    charge = _settled_charge(scene)
    data = {"amount": int(charge["amount"]) + 1}
    rule = {"match": charge["reference"], "data": data}
    # The audit queries a charge whose row in the list differs.
    scene.plant_fault(listed_row=rule, verify_call=rule)
    audit(scene.operator)


def restore_changed_charge(scene: Scene) -> None:
    """Let the gateway list the true amount, and audit again, which clears the alert."""
    scene.remove_faults()
    audit(scene.operator)


def plant_rejected_key(scene: Scene) -> None:
    """Let the gateway respond 401, and start a payment."""
    rejected = {"error_before": _REJECTED}
    scene.plant_fault(initialize_call=rejected, balance_call=rejected, verify_call=rejected)
    scene.in_marketplace(_rejected_payment)


def restore_key(scene: Scene) -> None:
    """Let the gateway accept the key; the services query it every five minutes."""
    scene.remove_faults()


def plant_failed_payout(scene: Scene) -> None:
    """Request a payout as a demo vendor, let the bank reject its transfer, and dispatch it as finance."""
    amount_minor = _PAYOUT_MINOR + secrets.randbelow(9_999) + 1
    scene.plant_fault(transfer_call={"fail": "Account number is invalid", "match": amount_minor})

    async def dispatch(market: Marketplace) -> None:
        vendor = await market.sign_in(_VENDOR)
        if (await market.wallet(vendor))["availableMinor"] < amount_minor:
            await _deliver(market, vendor)
            await market.wallet_reaches(vendor, amount_minor)
        payout = await market.request_payout(vendor, amount_minor)
        scene.remember(payoutId=payout["id"], subject=payout["id"])
        maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
        await market.dispatch_payouts(maker, [payout["id"]])

    scene.in_marketplace(dispatch)


def send_payout_again(scene: Scene) -> None:
    """Let the bank accept transfers, and send the payout again unless staff did."""
    scene.remove_faults()
    if payout_id := scene.facts.get("payoutId"):
        scene.act(f"/api/payouts/{payout_id}/reset", {"reason": "The drill has ended."})


def _settled_charge(scene: Scene) -> dict[str, Any]:
    """Return the newest charge that payments has verified. Raises Refused."""
    listed: list[dict[str, Any]] = scene.control("GET", "/control/charges?status=success&limit=100")
    settled_by = (datetime.now(UTC) - _SETTLED_AFTER).isoformat()
    for charge in listed:
        if charge["created_at"] <= settled_by:
            return charge
    raise Refused("No charge of this system is older than five minutes.", "Buy something (make demo), and wait")


async def _ordered(market: Marketplace) -> tuple[Any, dict[str, Any]]:
    buyer = await market.sign_in(_BUYER)
    found = await market.products(vendorId=str(ADA.id), inStock="true", minPriceMinor=100_000, limit=100)
    product = next(product for product in found if not product["options"])
    return buyer, await market.checkout(buyer, product["id"])


async def _rejected_payment(market: Marketplace) -> None:
    market.patient, market.wait_seconds_max = False, 30
    buyer, order = await _ordered(market)
    try:
        await market.pay_intent(buyer, order["id"])
    except StepFailed as refusal:
        if refusal.status < 500:
            raise


async def _deliver(market: Marketplace, vendor: Any) -> None:
    buyer, order = await _ordered(market)
    await market.pay(await market.pay_intent(buyer, order["id"]))
    await market.order_reaches(buyer, order["id"], "paid_escrow")
    await market.dispatch(vendor, order["id"])
    await market.verify_delivery(vendor, order["id"], await market.delivery_pin(buyer, order["id"]))

"""A student becomes a vendor, and a vendor is suspended and reinstated, through the gateway and four services."""

from uuid import uuid4

import jwt
import pytest
import pytest_asyncio

from common.auth.tokens import AUDIENCE
from contracts.demo import ADA, LAGOS
from operations.journey import Marketplace, StepFailed
from tests.end_to_end.steps import a_product, delivered_order, mail_of, paid_order

from .conftest import Users

APPLICATION = {
    "businessName": "Ngozi's Books",
    "legalName": "Ngozi Eze Enterprises",
    "campusId": str(LAGOS.id),
    "category": "books",
    "description": "Used textbooks in good state.",
}


@pytest_asyncio.fixture(loop_scope="session")
async def campus_admin(users: Users):
    return users.campus


async def refused(call, status):
    """Return the problem of a step that must fail."""
    with pytest.raises(StepFailed) as failure:
        await call
    assert failure.value.status == status, failure.value
    return failure.value.problem


def claims_of(user):
    return jwt.decode(user.access_token, options={"verify_signature": False}, audience=AUDIENCE)


def metadata_of(user):
    return claims_of(user)["app_metadata"]


async def test_a_student_applies_again_after_a_rejection_and_sells_from_the_next_token_on(
    market: Marketplace, campus_admin
) -> None:
    address = f"ngozi.{uuid4().hex[:12]}@unilag.edu.ng"
    student = await market.sign_up(address, "Ngozi Eze", f"+234803{uuid4().int % 10**7:07d}")
    first = await market.post("/api/vendor-applications", APPLICATION, student)
    assert (first["status"], first["userId"]) == ("pending", claims_of(student)["sub"])
    await refused(market.post("/api/vendor-applications", APPLICATION, student), 409)
    await refused(market.post(f"/api/vendor-applications/{first['id']}/approve", {}, student), 403)
    path = f"/api/vendor-applications/{first['id']}/reject"
    await market.post(path, {"reason": "Tell us which books."}, campus_admin)
    assert "Tell us which books." in str(await mail_of(market, address, "was not approved"))
    second = await market.post("/api/vendor-applications", APPLICATION, student)
    listed = await market.get("/api/vendor-applications", campus_admin, params={"status": "pending"})
    assert second["id"] in [entry["id"] for entry in listed]
    approved = await market.post(f"/api/vendor-applications/{second['id']}/approve", {}, campus_admin)
    assert metadata_of(student)["vendor_id"] is None
    merchant = await market.sign_in(address)
    assert set(metadata_of(merchant)["roles"]) == {"buyer", "merchant"}
    assert metadata_of(merchant)["vendor_id"] == approved["vendorId"]
    shop = await market.get(f"/api/vendors/{approved['vendorId']}")
    assert (shop["businessName"], "legalName" in shop) == (APPLICATION["businessName"], False)
    await mail_of(market, address, "was approved")

    assert (await market.wallet(merchant))["availableMinor"] == 0
    product = await market.until("orders knows the vendor", lambda: first_product_of(market, merchant), 60)
    assert (product["vendorName"], product["campusId"]) == (APPLICATION["businessName"], APPLICATION["campusId"])


async def first_product_of(market: Marketplace, merchant):
    body = {
        "name": "Organic Chemistry",
        "description": "Third edition",
        "category": "books",
        "priceMinor": 450_000,
        "stock": 1,
    }
    response = await market.http.post("/api/products", json=body, headers=merchant.headers)
    return response.json()["data"] if response.is_success else None


async def test_a_suspended_vendor_sells_and_is_paid_nothing_until_it_is_reinstated(
    market: Marketplace, users: Users, campus_admin
) -> None:
    product = await a_product(market)
    await delivered_order(market, users)
    amount_minor = (await market.wallet_reaches(users.vendor, 2))["availableMinor"]
    payout = await market.request_payout(users.vendor, amount_minor // 2)
    order = await paid_order(market, users)
    path = f"/api/vendors/{ADA.id}"
    await market.post(f"{path}/suspend", {"reason": "Complaints about late food"}, campus_admin)
    try:
        # A shared page is cached for seconds, and anonymous callers have 60 requests a minute: polling faster ends in
        # 429.
        await market.until("the product is hidden", lambda: product_has_status(market, product, 404), 60, every=1)
        problem = await refused(market.checkout(users.buyer, product["id"]), 409)
        assert (problem["code"], "suspended" in problem["detail"]) == ("CONCURRENCY_CONFLICT", True)
        await market.until("the payout is held", lambda: payout_is_held(market, users, payout), 60)
        held = await market.dispatch_payouts(users.maker, [payout["id"]])
        assert (held["submitted"], held["skipped"]) == (0, [{"payoutId": payout["id"], "reason": "vendor_suspended"}])
        await refused(market.request_payout(users.vendor, 1), 409)
        await refused(market.get(path), 404)
        assert (await market.get(path, users.vendor))["status"] == "suspended"
        await market.dispatch(users.vendor, order["id"])
        pin = await market.delivery_pin(users.buyer, order["id"])
        await market.verify_delivery(users.vendor, order["id"], pin)
        await market.order_reaches(users.buyer, order["id"], "paid")
    finally:
        await market.post(f"{path}/reinstate", {}, campus_admin)
        await market.until("the product is shown again", lambda: product_has_status(market, product, 200), 60, every=1)
    assert (await market.checkout(users.buyer, product["id"]))["status"] == "Processing"
    await market.until("the payout is free", lambda: payout_is_free(market, users, payout), 60)
    assert (await market.dispatch_payouts(users.maker, [payout["id"]]))["submitted"] == 1
    await market.payout_reaches(users.vendor, payout["id"], "processed")
    await mail_of(market, users.vendor.email, "is over")


async def product_has_status(market: Marketplace, product, status):
    response = await market.http.get(f"/api/products/{product['id']}")
    return True if response.status_code == status else None


async def skipped_in_a_dry_run(market: Marketplace, users: Users, payout):
    body = {"payoutIds": [payout["id"]], "dryRun": True}
    return (await market.post("/api/payouts/dispatch", body, users.maker, key=uuid4()))["skipped"]


async def payout_is_held(market: Marketplace, users: Users, payout):
    return await skipped_in_a_dry_run(market, users, payout) or None


async def payout_is_free(market: Marketplace, users: Users, payout):
    return None if await skipped_in_a_dry_run(market, users, payout) else True

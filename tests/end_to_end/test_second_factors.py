"""Second factors through the gateway: a student's passkey and recovery code, and sessions of staff with and without
one.
"""

from uuid import uuid4

from campus_tools.launcher.system import System
from contracts.demo import AKOKA_HUB
from operations.journey import Marketplace
from testkit.authenticator import Authenticator
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import paid_order
from tests.running_system import with_old_factor

MFA = "/api/auth/mfa"


async def test_a_student_steps_up_with_a_passkey_and_comes_back_with_a_recovery_code(
    market: Marketplace, system: System
) -> None:
    address = f"keys-{uuid4().hex[:12]}@unilag.edu.ng"
    student = await market.sign_up(address, "Tola Keys", f"+234803{uuid4().int % 10**7:07d}")
    authenticator = Authenticator(system.console_url.replace("127.0.0.1", "localhost"))

    requested = await market.post(f"{MFA}/passkeys/options", {}, student)
    assert requested["publicKey"]["rp"]["id"] == authenticator.rp_id
    made = {
        "challengeId": requested["challengeId"],
        "name": "Phone",
        "credential": authenticator.make(requested["publicKey"]),
    }
    factor = await market.post(f"{MFA}/passkeys", made, student)
    assert [row["id"] for row in await market.get(f"{MFA}/factors", student)] == [factor["id"]]

    requested = await market.post(f"{MFA}/passkeys/assertion-options", {}, student)
    shown = {"challengeId": requested["challengeId"], "credential": authenticator.show(requested["publicKey"])}
    student.access_token = (await market.post(f"{MFA}/passkeys/verify", shown, student))["accessToken"]
    codes = (await market.post(f"{MFA}/recovery-codes", {}, student))["codes"]

    # Another day, and the phone is lost.
    later = await market.sign_in(address)
    refused = await market.http.delete(f"{MFA}/factors/{factor['id']}", headers=later.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    recovered = await market.post(f"{MFA}/verify", {"code": codes[0]}, later)
    assert (recovered["aal"], recovered["mfaRequired"]) == ("aal2", False)
    later.access_token = recovered["accessToken"]
    assert (await market.get(f"{MFA}/recovery-codes", later))["remaining"] == 9
    removed = await market.http.delete(f"{MFA}/factors/{factor['id']}", headers=later.headers)
    assert (removed.status_code, removed.headers["Cache-Control"]) == (200, "no-store")
    assert await market.get(f"{MFA}/factors", later) == []


async def test_a_password_alone_opens_nothing_of_others_to_staff(market: Marketplace, users: Users) -> None:
    order = await paid_order(market, users, hubId=str(AKOKA_HUB.id))
    support, auditor = [await market.sign_in(f"{name}@campus.example") for name in ("support", "auditor")]
    for user, method, path in (
        (support, "POST", f"/api/orders/{order['id']}/cancel"),
        (support, "GET", f"/api/orders/{order['id']}"),
        (support, "GET", "/api/campus-orders"),
        (support, "POST", f"/api/return-requests/{uuid4()}/approve"),
        (auditor, "GET", "/api/transactions/export"),
        (auditor, "GET", "/api/payouts"),
    ):
        body = {"json": {"reason": "a password alone"}} if method == "POST" else {}
        refused = await market.http.request(method, path, headers=user.headers, **body)
        assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED"), path
    assert (await market.order(users.buyer, order["id"]))["status"] == "paid_escrow"
    for path in ("/api/orders", "/api/notifications", "/api/profiles/current"):
        assert (await market.http.get(path, headers=support.headers)).status_code == 200
    assert await market.get("/api/orders", support) == []
    agent = await market.sign_in("hub@campus.example")
    assert (await market.order(agent, order["id"]))["id"] == order["id"]


async def test_money_of_others_needs_a_factor_of_the_last_fifteen_minutes(
    market: Marketplace, users: Users, system: System
) -> None:
    order = await paid_order(market, users)
    signed_in = await market.sign_in_with_two_factors("support@campus.example", "SUPPORT")
    support = await with_old_factor(system, market, signed_in)
    assert (await market.order(support, order["id"]))["id"] == order["id"]
    path = f"/api/orders/{order['id']}/cancel"
    refused = await market.http.post(path, json={"reason": "an old factor"}, headers=support.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_AAL2_REQUIRED")
    assert (await market.post(path, {"reason": "lost"}, users.support))["status"] == "refund_pending"

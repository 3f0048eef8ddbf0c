"""Buyers read their own refunds, support reads all, and neither reads finance's decisions (section 7.6)."""

from typing import Any
from uuid import UUID, uuid4

from .conftest import PaymentsApp


async def _see(app: PaymentsApp, path: str, user: UUID | None, *roles: str) -> Any:
    return await app.client.get(path, headers=app.headers(user or uuid4(), roles=roles))


async def _prepared_refund(app: PaymentsApp) -> str:
    refund_id: str = await app.failed_refund()
    destination = {"accountNumber": "0123456785", "bankCode": "058", "accountName": "Okafor Chidi"}
    body = {"action": "other_destination", "reason": "card closed", "destination": destination}
    prepared = await app.post_as(f"/api/refunds/{refund_id}/prepare", body, "finance_maker")
    assert prepared.status_code == 200, prepared.text
    return refund_id


async def test_a_buyer_sees_the_own_refunds_without_what_finance_decided(app: PaymentsApp) -> None:
    refund_id = await _prepared_refund(app)
    listed = await _see(app, "/api/refunds", app.buyer, "buyer")
    assert listed.status_code == 200, listed.text
    [refund] = listed.json()["data"]
    assert (refund["id"], refund["amountMinor"], refund["kind"]) == (refund_id, 500_000, "order")
    assert refund["decision"] is None
    assert (await _see(app, f"/api/refunds/{refund_id}", app.buyer, "buyer")).json()["data"] == refund
    assert listed.json()["meta"]["total"] == 1
    assert "bankCode" not in listed.text
    assert "0123456785" not in listed.text
    [shown] = await app.get_as("/api/refunds")
    assert shown["decision"]["destination"]["bankCode"] == "058"


async def test_another_users_refund_is_absent(app: PaymentsApp) -> None:
    refund_id = await _prepared_refund(app)
    for roles in (("buyer",), ("merchant",), ("hub_agent",), ("campus_admin",), ("platform_admin",)):
        listed = (await _see(app, "/api/refunds", None, *roles)).json()
        assert (listed["data"], listed["meta"]["total"]) == ([], 0)
        foreign = await _see(app, f"/api/refunds/{refund_id}", None, *roles)
        absent = await _see(app, f"/api/refunds/{uuid4()}", None, *roles)
        assert (foreign.status_code, foreign.json()["code"]) == (404, "RESOURCE_NOT_FOUND")
        assert absent.status_code == 404
    assert (await app.client.get("/api/refunds")).status_code == 401


async def test_support_reads_refunds_and_quarantined_charges_and_decides_nothing(app: PaymentsApp) -> None:
    refund_id = await _prepared_refund(app)
    _, charge_id = await app.quarantined(499_999)
    [refund] = await app.get_as("/api/refunds", "support_agent")
    assert (refund["id"], refund["decision"]) == (refund_id, None)
    [charge] = await app.get_as("/api/quarantined-charges", "support_agent")
    assert (charge["id"], charge["reason"]) == (charge_id, "underpaid")
    assert (await app.get_as(f"/api/quarantined-charges/{charge_id}", "support_agent"))["id"] == charge_id
    for path in (f"/api/quarantined-charges/{charge_id}", f"/api/refunds/{refund_id}"):
        for post_as, body in (
            ("prepare", {"outcome": "return", "reason": "x"}),
            ("approve", {}),
            ("reject", {"reason": "x"}),
        ):
            assert (await app.post_as(f"{path}/{post_as}", body, "support_agent")).status_code == 403


async def test_the_api_role_reads_refunds_by_the_row_policy_alone(app: PaymentsApp) -> None:
    await _prepared_refund(app)
    async with app.connected("api") as api:
        for settings, refunds, decisions in (
            ({}, 0, 0),
            ({"app.user_id": str(app.buyer)}, 1, 0),
            ({"app.user_id": str(uuid4())}, 0, 0),
            ({"app.permissions": "refunds:read"}, 1, 0),
            ({"app.permissions": "ledger:read"}, 1, 1),
        ):
            async with api.transaction():
                for name, value in settings.items():
                    await api.execute("SELECT set_config($1, $2, true)", name, value)
                assert await api.fetchval("SELECT count(buyer_id) FROM refunds") == refunds
                assert await api.fetchval("SELECT count(*) FROM refund_decisions") == decisions


async def test_refunds_are_filtered_by_date_and_reference(app: PaymentsApp) -> None:
    first, second = [await app.get_as(f"/api/refunds/{await app.failed_refund()}") for _ in range(2)]

    async def found(**filters: str) -> list[str]:
        headers = app.headers(uuid4(), roles=("auditor",))
        response = await app.client.get("/api/refunds", params={"order": "asc", **filters}, headers=headers)
        assert response.status_code == 200, response.text
        return [row["id"] for row in response.json()["data"]]

    assert await found(reference=first["reference"]) == [first["id"]]
    assert await found(reference=f"re-{uuid4().hex}") == []
    assert await found(**{"from": first["createdAt"]}) == [first["id"], second["id"]]
    assert await found(to=first["createdAt"]) == []
    assert await found(buyerId=str(app.buyer)) == [first["id"], second["id"]]
    assert await found(buyerId=str(uuid4())) == []
    refused = await app.client.get("/api/refunds?reference=x", headers=app.headers(uuid4(), roles=("auditor",)))
    assert refused.json()["invalid_params"] == [{"name": "reference", "reason": "must be `re-` and 32 hex digits"}]

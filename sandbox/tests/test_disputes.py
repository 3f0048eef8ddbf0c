from testkit.fixtures import eventually
from testkit.providers.paystack import checking

from .conftest import Receiver, Sandbox


async def _exchange(sandbox: Sandbox, method, path, body=None, **query):
    """Return a call whose request and response have the gateway's shape."""
    response = await sandbox.client.request(method, f"/gateway{path}", json=body, params=query)
    checking.check_request(method, path, query, body)
    checking.check_response(method, path, response.status_code, response.json())
    return response


async def test_a_dispute_deducts_money_only_when_it_is_lost(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute", json={"amount": 200_000})).json()
    await eventually(lambda: receiver.events("charge.dispute.create"))
    reported = receiver.events("charge.dispute.create")[0]["data"]
    assert (reported["id"], reported["refund_amount"], reported["transaction"]["reference"]) == (
        opened["id"],
        200_000,
        "order-1",
    )
    assert (reported["resolution"], await sandbox.balance()) == (None, 500_000)
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/remind")).status_code == 200
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/lose")).json()["status"] == "resolved"
    await eventually(lambda: receiver.events("charge.dispute.resolve"))
    assert receiver.events("charge.dispute.resolve")[0]["data"]["resolution"] == "merchant-accepted"
    for event in receiver.events()[1:]:
        checking.check_event(event)
    assert await sandbox.balance() == 300_000
    assert (await sandbox.client.get("/control/book")).json()["chargebacks"] == {"count": 1, "amount_minor": 200_000}
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/win")).status_code == 409


async def test_a_lost_dispute_can_be_overturned(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    address = f"/gateway/dispute/{opened['id']}"
    assert (await sandbox.client.get(address)).json()["data"]["resolution"] is None
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/overturn")).status_code == 409
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/lose")).status_code == 200
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/overturn")).status_code == 200
    await eventually(lambda: len(receiver.events("charge.dispute.resolve")) == 2)
    assert await sandbox.balance() == 500_000
    shown = (await sandbox.client.get(address)).json()["data"]
    resolved = [event["data"] for event in receiver.events("charge.dispute.resolve")]
    assert (shown["resolution"], shown["resolvedAt"]) in [(one["resolution"], one["resolvedAt"]) for one in resolved]
    assert shown["resolution"] == "declined"
    assert (await sandbox.client.get("/gateway/dispute/999")).status_code == 404


async def test_a_won_dispute_can_be_revoked(sandbox: Sandbox) -> None:
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/revoke")).status_code == 409
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/win")).status_code == 200
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/revoke")).status_code == 200
    assert await sandbox.balance() == 0
    assert (await sandbox.client.get(f"/gateway/dispute/{opened['id']}")).json()["data"][
        "resolution"
    ] == "merchant-accepted"
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/revoke")).status_code == 409


async def test_a_won_dispute_transfers_no_money(sandbox: Sandbox) -> None:
    await sandbox.charge("order-1", 500_000)
    await sandbox.initialize("unpaid")
    opened = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    assert opened["amount_minor"] == 500_000
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/win")).json()["resolution"] == "declined"
    assert await sandbox.balance() == 500_000
    for reference, amount, status in (("unpaid", 1, 400), ("order-1", 500_001, 400), ("nobody", 1, 404)):
        response = await sandbox.client.post(f"/control/charges/{reference}/dispute", json={"amount": amount})
        assert response.status_code == status
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/forget")).status_code == 404


async def test_a_dispute_has_a_date_and_the_other_fields_of_the_gateway(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    due_at = "2030-01-01T12:00:00.000Z"
    opened = (await sandbox.client.post("/control/charges/order-1/dispute", json={"due_at": due_at})).json()
    await eventually(lambda: receiver.events("charge.dispute.create"))
    [event] = receiver.events("charge.dispute.create")
    shown = (await _exchange(sandbox, "GET", f"/dispute/{opened['id']}")).json()["data"]
    assert event["data"]["dueAt"] == shown["dueAt"] == due_at
    assert event["data"].keys() - shown.keys() == {"created_at", "updated_at"}
    assert (shown["evidence"], shown["attachments"], shown["resolvedAt"]) == (None, None, None)
    await sandbox.client.post("/control/charges/order-1/dispute", json={"amount": 1, "due_at": None})
    listed = (await _exchange(sandbox, "GET", "/dispute", status="awaiting-merchant-feedback", perPage="10")).json()
    assert [dispute["dueAt"] for dispute in listed["data"]] == [None, due_at]


async def _upload(sandbox: Sandbox, dispute_id):
    given = (await _exchange(sandbox, "GET", f"/dispute/{dispute_id}/upload_url")).json()["data"]
    stored = await sandbox.client.put(given["signedUrl"], content=b"%PDF-1.4 receipt")
    assert stored.status_code == 200
    return given["fileName"]


EVIDENCE = {
    "customer_email": "buyer@unilag.edu.ng",
    "customer_name": "Chidi Okafor",
    "customer_phone": "+2348012345678",
    "service_details": "Two textbooks, collected at the hub",
    "delivery_date": "2026-01-31",
}


async def test_a_declined_dispute_awaits_the_bank_with_its_evidence(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    address = f"/dispute/{opened['id']}"
    evidence = (await _exchange(sandbox, "POST", f"{address}/evidence", EVIDENCE)).json()["data"]
    assert (evidence["dispute"], evidence["customer_name"]) == (opened["id"], "Chidi Okafor")
    body = {
        "resolution": "declined",
        "message": "Delivered",
        "refund_amount": 0,
        "uploaded_filename": await _upload(sandbox, opened["id"]),
        "evidence": evidence["id"],
    }
    response = (await _exchange(sandbox, "PUT", f"{address}/resolve", body)).json()["data"]
    assert (response["status"], response["transaction"], response["evidence"]) == (
        "awaiting-bank-feedback",
        opened["transaction_id"],
        evidence["id"],
    )
    assert (await _exchange(sandbox, "PUT", f"{address}/resolve", body)).status_code == 400
    assert (await _exchange(sandbox, "POST", f"{address}/evidence", EVIDENCE)).status_code == 400
    sent = (await sandbox.client.get(f"/control/disputes/{opened['id']}/evidence")).json()
    assert (sent["evidence"], sent["files"][0]["bytes"]) == ([EVIDENCE], 16)
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/win")).status_code == 200
    await eventually(lambda: receiver.events("charge.dispute.resolve"))
    assert await sandbox.balance() == 500_000


async def test_an_accepted_dispute_debits_the_accepted_amount(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute", json={"amount": 300_000})).json()
    address = f"/dispute/{opened['id']}/resolve"
    body = {"resolution": "merchant-accepted", "message": "Our fault", "uploaded_filename": "nothing"}
    assert (await _exchange(sandbox, "PUT", address, {**body, "refund_amount": 1})).status_code == 400
    body["uploaded_filename"] = await _upload(sandbox, opened["id"])
    assert (await _exchange(sandbox, "PUT", address, {**body, "refund_amount": 300_001})).status_code == 400
    assert (await _exchange(sandbox, "PUT", address, {**body, "refund_amount": 200_000})).status_code == 200
    await eventually(lambda: receiver.events("charge.dispute.resolve"))
    [event] = receiver.events("charge.dispute.resolve")
    assert (event["data"]["resolution"], event["data"]["refund_amount"]) == ("merchant-accepted", 200_000)
    assert event["data"]["transaction"]["status"] == "reversed"
    assert await sandbox.balance() == 300_000


async def test_a_dispute_without_a_response_is_accepted_automatically(sandbox: Sandbox) -> None:
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    expired = (await sandbox.client.post(f"/control/disputes/{opened['id']}/expire")).json()
    assert (expired["resolution"], await sandbox.balance()) == ("auto-accepted", 0)


async def test_an_upload_needs_the_address_that_was_given(sandbox: Sandbox) -> None:
    assert (await sandbox.client.put("/uploads/unknown", content=b"x")).status_code == 403

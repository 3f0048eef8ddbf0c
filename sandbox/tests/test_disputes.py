async def test_a_dispute_deducts_money_only_when_it_is_lost(sandbox, receiver, eventually):
    await sandbox.charge("order-1", 500_000)
    opened = (await sandbox.client.post("/control/charges/order-1/dispute", json={"amount": 200_000})).json()
    await eventually(lambda: receiver.events("charge.dispute.create"))
    told = receiver.events("charge.dispute.create")[0]["data"]
    assert (told["id"], told["refund_amount"], told["transaction"]["reference"]) == (opened["id"], 200_000, "order-1")
    assert (told["resolution"], await sandbox.balance()) == (None, 500_000)
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/remind")).status_code == 200
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/lose")).json()["status"] == "resolved"
    await eventually(lambda: receiver.events("charge.dispute.resolve"))
    assert receiver.events("charge.dispute.resolve")[0]["data"]["resolution"] == "merchant-accepted"
    assert await sandbox.balance() == 300_000
    assert (await sandbox.client.get("/control/book")).json()["chargebacks"] == {"count": 1, "amount_minor": 200_000}
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/win")).status_code == 409


async def test_a_lost_dispute_can_be_overturned(sandbox, receiver, eventually):
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
    assert shown in [event["data"] for event in receiver.events("charge.dispute.resolve")]
    assert shown["resolution"] == "declined"
    assert (await sandbox.client.get("/gateway/dispute/999")).status_code == 404


async def test_a_won_dispute_moves_no_money(sandbox):
    await sandbox.charge("order-1", 500_000)
    await sandbox.initialize("unpaid")
    opened = (await sandbox.client.post("/control/charges/order-1/dispute")).json()
    assert opened["amount_minor"] == 500_000
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/win")).json()["resolution"] == "declined"
    assert await sandbox.balance() == 500_000
    for reference, amount, status in (("unpaid", 1, 400), ("order-1", 500_001, 400), ("nobody", 1, 404)):
        answer = await sandbox.client.post(f"/control/charges/{reference}/dispute", json={"amount": amount})
        assert answer.status_code == status
    assert (await sandbox.client.post(f"/control/disputes/{opened['id']}/forget")).status_code == 404

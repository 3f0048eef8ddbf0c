import pytest

from testkit.fixtures import eventually

from .conftest import Receiver, Sandbox

METADATA = {"userId": "1f0c3c56-4a3d-4c49-9f0d-0d7f1f1f0001", "orderId": "1f0c3c56-4a3d-4c49-9f0d-0d7f1f1f0002"}


async def test_a_paid_transaction_sends_the_specified_webhook(sandbox: Sandbox, receiver: Receiver) -> None:
    opened = await sandbox.initialize("order-1", "500000", metadata={**METADATA, "settlement": "500000"})
    assert opened.status_code == 200
    response = opened.json()
    assert response["status"] is True
    assert response["data"]["authorization_url"].endswith("/pay/" + response["data"]["access_code"])

    await sandbox.pay(response["data"]["access_code"])

    await eventually(lambda: receiver.events("charge.success"))
    charge = receiver.events("charge.success")[0]["data"]
    assert set(charge) == {
        "id", "domain", "status", "reference", "amount", "message", "gateway_response", "paid_at", "created_at",
        "channel", "currency", "ip_address", "metadata", "log", "fees", "customer", "authorization", "plan",
        "fees_split",
    }  # fmt: skip
    assert charge["amount"] == 500_000
    assert isinstance(charge["id"], int)
    assert charge["metadata"] == {**METADATA, "settlement": "500000"}
    assert (charge["customer"]["id"], charge["customer"]["email"]) == (1, "buyer@unilag.edu.ng")
    verified = (await sandbox.client.get("/gateway/transaction/verify/order-1")).json()["data"]
    assert (verified["status"], verified["amount"], verified["id"]) == ("success", 500_000, charge["id"])
    assert await sandbox.balance() == 500_000


async def test_metadata_sent_as_text_is_returned_as_an_object(sandbox: Sandbox, receiver: Receiver) -> None:
    opened = await sandbox.initialize("order-text", metadata='{"orderId": "x"}')
    await sandbox.pay(opened.json()["data"]["access_code"])
    await eventually(lambda: receiver.events("charge.success"))
    assert receiver.events()[0]["data"]["metadata"] == {"orderId": "x"}


async def test_a_reference_is_accepted_once(sandbox: Sandbox) -> None:
    assert (await sandbox.initialize("order-1")).status_code == 200
    again = await sandbox.initialize("order-1", 100)
    assert again.status_code == 400
    assert again.json()["message"] == "Duplicate Transaction Reference"
    assert (again.json()["status"], again.json()["code"]) == (False, "duplicate_reference")


async def test_a_transaction_is_paid_once(sandbox: Sandbox, receiver: Receiver) -> None:
    access_code = (await sandbox.initialize("order-1")).json()["data"]["access_code"]
    assert (await sandbox.pay(access_code)).status_code == 200
    assert (await sandbox.pay(access_code)).status_code == 400
    await eventually(lambda: receiver.events("charge.success"))
    assert await sandbox.balance() == 500_000
    assert len(await sandbox.webhooks()) == 1


async def test_a_declined_payment_can_be_retried(sandbox: Sandbox, receiver: Receiver) -> None:
    access_code = (await sandbox.initialize("order-1")).json()["data"]["access_code"]
    declined = await sandbox.pay(access_code, action="decline", reason="Insufficient Funds")
    assert declined.json()["data"]["status"] == "failed"
    assert await sandbox.balance() == 0
    await eventually(lambda: receiver.events("charge.failed"))
    reported = receiver.events("charge.failed")[0]["data"]
    assert (reported["status"], reported["gateway_response"], reported["paid_at"]) == (
        "failed",
        "Insufficient Funds",
        None,
    )
    shown = (await sandbox.client.get("/gateway/transaction/verify/order-1")).json()["data"]
    assert (shown["id"], shown["status"], shown["gateway_response"]) == (reported["id"], "failed", "Insufficient Funds")
    assert (await sandbox.pay(access_code)).json()["data"]["status"] == "success"


async def test_a_webhook_reports_the_amount_that_was_paid(sandbox: Sandbox, receiver: Receiver) -> None:
    await sandbox.charge("short", 500_000, amount="5000")
    await sandbox.charge("foreign", 500_000, currency="GHS")
    await eventually(lambda: len(receiver.events("charge.success")) == 2)
    reported = {event["data"]["reference"]: event["data"] for event in receiver.events()}
    assert (reported["short"]["amount"], reported["short"]["currency"]) == (5_000, "NGN")
    assert (reported["foreign"]["amount"], reported["foreign"]["currency"]) == (500_000, "GHS")
    assert await sandbox.balance("NGN") == 5_000
    assert await sandbox.balance("GHS") == 500_000


@pytest.mark.parametrize("amount", [0, -1, "12.50", "1e3", True, None, 2**63, "٣"])
async def test_an_amount_other_than_positive_kobo_is_rejected(sandbox: Sandbox, amount) -> None:
    response = await sandbox.initialize("order-1", amount)
    assert response.status_code == 400
    assert response.json()["message"] == "Invalid Amount Sent"


async def test_the_checkout_page_redirects_to_the_shop(sandbox: Sandbox) -> None:
    opened = await sandbox.initialize(
        "order-1", callback_url="http://shop.example/return?cart=7", channels=["card", "ussd"]
    )
    address = opened.json()["data"]["authorization_url"]
    page = await sandbox.client.get(address)
    assert "₦5,000.00" in page.text
    assert 'value="bank_transfer"' not in page.text
    assert "http://shop" not in page.text
    left = await sandbox.client.post(address, data={"action": "pay", "channel": "ussd"})
    assert left.status_code == 303
    assert left.headers["location"] == "http://shop.example/return?cart=7&trxref=order-1&reference=order-1"
    assert "Payment successful" in (await sandbox.client.get(address)).text


async def test_a_customer_s_address_cannot_inject_markup(sandbox: Sandbox) -> None:
    body = {"email": '"<script>"@x.ng', "amount": 100, "reference": "order-1"}
    opened = await sandbox.client.post("/gateway/transaction/initialize", json=body)
    page = await sandbox.client.get(opened.json()["data"]["authorization_url"])
    assert "&lt;script&gt;" in page.text
    assert '"<script>"' not in page.text


async def test_the_gateway_requires_an_accepted_key(sandbox: Sandbox) -> None:
    for headers in (
        {"Authorization": ""},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic sk_test_current"},
    ):
        response = await sandbox.client.get("/gateway/balance", headers=headers)
        assert response.status_code == 401
        assert response.json()["status"] is False
    previous = await sandbox.client.get("/gateway/balance", headers={"Authorization": "Bearer sk_test_previous"})
    assert previous.status_code == 200


async def test_keys_can_be_replaced_at_run_time(sandbox: Sandbox) -> None:
    changed = await sandbox.client.put("/control/gateway-keys", json={"keys": ["sk_test_next", "sk_test_previous"]})
    assert changed.json() == {"accepted": 2}
    for key, status in (("sk_test_previous", 200), ("sk_test_next", 200), ("sk_test_current", 401)):
        response = await sandbox.client.get("/gateway/balance", headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == status
    for wrong in ({}, {"keys": []}, {"keys": [""]}, {"keys": "sk"}):
        assert (await sandbox.client.put("/control/gateway-keys", json=wrong)).status_code == 400


async def test_transactions_are_listed_newest_first_within_the_requested_time(sandbox: Sandbox) -> None:
    for number in range(3):
        await sandbox.initialize(f"order-{number}")
    response = (await sandbox.client.get("/gateway/transaction", params={"perPage": 2, "page": 1})).json()
    assert [line["reference"] for line in response["data"]] == ["order-2", "order-1"]
    assert response["meta"] == {
        "total": 3, "skipped": 0, "perPage": 2, "page": 1, "pageCount": 2, "total_volume": 1_500_000
    }  # fmt: skip
    last = response["data"][0]["created_at"]
    later = (await sandbox.client.get("/gateway/transaction", params={"from": "2100-01-01"})).json()
    assert later["data"] == []
    until = (await sandbox.client.get("/gateway/transaction", params={"to": last, "status": "abandoned"})).json()
    assert until["meta"]["total"] == 3
    assert (await sandbox.client.get("/gateway/transaction", params={"from": "yesterday"})).status_code == 400


async def test_transactions_are_listed_by_a_cursor_that_newer_ones_do_not_move(sandbox: Sandbox) -> None:
    for number in range(3):
        await sandbox.initialize(f"order-{number}")
    query = {"use_cursor": "true", "perPage": 2}
    first = (await sandbox.client.get("/gateway/transaction", params=query)).json()
    await sandbox.initialize("order-3")
    last = (await sandbox.client.get("/gateway/transaction", params=query | {"next": first["meta"]["next"]})).json()
    assert [line["reference"] for line in first["data"] + last["data"]] == ["order-2", "order-1", "order-0"]
    assert last["meta"] == {"next": None, "previous": None, "perPage": 2}
    wrong = await sandbox.client.get("/gateway/transfer", params={"use_cursor": "true", "next": "?"})
    assert wrong.status_code == 400


async def test_a_rate_limited_list_names_the_seconds_to_wait(sandbox: Sandbox) -> None:
    await sandbox.client.put("/control/faults", json={"list_call": [{"error_before": 429, "times": 1}]})
    limited = await sandbox.client.get("/gateway/transaction")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
    assert (await sandbox.client.get("/gateway/transaction")).status_code == 200


async def test_an_unknown_reference_and_a_malformed_body_are_400(sandbox: Sandbox) -> None:
    unknown = await sandbox.client.get("/gateway/transaction/verify/none")
    assert (unknown.status_code, unknown.json()["code"]) == (400, "transaction_not_found")
    assert (await sandbox.client.get("/gateway/nothing")).json() == {"status": False, "message": "Not Found"}
    broken = await sandbox.client.post("/gateway/transaction/initialize", content=b"{")
    assert broken.status_code == 400
    assert (await sandbox.client.get("/pay/unknown")).status_code == 404

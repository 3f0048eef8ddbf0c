"""A gateway that rejects our key: one alert, 503 with a reason, and the end of the alert when it accepts the key."""

from datetime import timedelta
from typing import Any

from payments.timers import recheck_rejected_keys_once, settle_refunds_once
from testkit.sandbox import GATEWAY_KEY

from .conftest import PaymentsApp


async def use_keys(app: PaymentsApp, *keys: str) -> None:
    await app.gateway.control("PUT", "gateway-keys", {"keys": list(keys)})


async def alerts(app: PaymentsApp, kind: str = "raised", gateway: str = "paystack") -> list[dict[str, Any]]:
    published = await app.published(f"operations.alert_{kind}.v1")
    return [alert for alert in published if alert["dedupKey"] == f"payments:gateway-key:{gateway}"]


async def test_a_rejected_key_is_503_with_one_alert_until_the_gateway_accepts_it(app: PaymentsApp) -> None:
    placed = await app.place_order()
    await use_keys(app, "sk_another")
    for _ in range(3):
        response = await app.request_intent(placed.order_id)
        assert (response.status_code, response.json()["code"]) == (503, "INTERNAL_ERROR")
        assert "fault on our side" in response.json()["detail"]
        assert response.headers["retry-after"]
    [alert] = await alerts(app)
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "gateway-key-rejected")
    assert await recheck_rejected_keys_once(app.dependencies) == 0
    assert await alerts(app, "cleared") == []
    await use_keys(app, GATEWAY_KEY)
    assert await recheck_rejected_keys_once(app.dependencies) == 1
    assert await recheck_rejected_keys_once(app.dependencies) == 0
    assert (len(await alerts(app)), len(await alerts(app, "cleared"))) == (1, 1)
    assert (await app.request_intent(placed.order_id)).status_code == 201


async def test_verify_and_refund_report_a_rejected_key_too(app: PaymentsApp) -> None:
    await app.receive(app.refund_requested(await app.paid_order(), 500_000))
    await app.work("payments.refunds")
    app.clock.advance(timedelta(minutes=2))
    await use_keys(app, "sk_another")
    assert await settle_refunds_once(app.dependencies) == 0
    assert len(await alerts(app)) == 1
    # A second fault after the first was fixed is a new alert.
    await use_keys(app, GATEWAY_KEY)
    await recheck_rejected_keys_once(app.dependencies)
    await use_keys(app, "sk_another")
    app.clock.advance(timedelta(minutes=5))
    assert await settle_refunds_once(app.dependencies) == 0
    assert len(await alerts(app)) == 2


async def test_without_an_alert_the_gateway_is_not_queried(app: PaymentsApp) -> None:
    before = len(app.gateway.calls)
    assert await recheck_rejected_keys_once(app.dependencies) == 0
    assert len(app.gateway.calls) == before


async def test_each_gateway_has_an_alert_of_its_own(
    fresh_database: Any, broker_url: str, open_app: Any, flutterwave_settings: dict[str, Any]
) -> None:
    changed = flutterwave_settings | {"flutterwave_secret_key": "FLWSECK_REVOKED"}
    async with open_app(await fresh_database("payments"), broker_url, **changed) as app:
        placed = await app.place_order()
        for _ in range(2):
            assert (await app.request_intent(placed.order_id)).status_code == 503
        assert len(await alerts(app, gateway="flutterwave")) == 1
        assert await alerts(app) == []

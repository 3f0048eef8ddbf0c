"""Faults of FCM: only a dead token removes a device; faults of our project pause the platform with one alert."""

from datetime import timedelta

import msgspec
from starlette.responses import JSONResponse

from contracts.operations import AlertRaised

from ..conftest import Scenario
from ..providers import Providers

FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"


def fault(status, name, code=None, **headers):
    details = [{"@type": FCM_ERROR, "errorCode": code}] if code else []
    body = {"error": {"code": status, "message": "text", "status": name, "details": details}}
    return JSONResponse(body, status, headers)


async def push(scenario: Scenario):
    await scenario.request_delivery("push", "order_dispatched")
    await scenario.send_queued()


async def with_device(scenario: Scenario, kind="android", token="token-of-a-phone"):
    await scenario.project_users()
    await scenario.register(scenario.buyer_id, kind=kind, token=token)


async def devices(scenario: Scenario):
    return len(await scenario.fetch("SELECT 1 FROM user_devices"))


async def test_a_device_of_another_project_stays_and_an_operator_is_alerted(
    full_scenario: Scenario, providers: Providers
) -> None:
    await with_device(full_scenario)
    providers.native_faults.append(fault(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"))
    await push(full_scenario)
    assert await devices(full_scenario) == 1
    assert await full_scenario.delivery_statuses() == ["failed"]
    [alert] = await full_scenario.published("operations.alert_raised.v1")
    assert alert["dedupKey"] == "provider-account:fcm"
    # Other devices are not affected.
    await push(full_scenario)
    assert len(providers.native) == 1


async def test_the_alert_of_another_project_closes_with_the_first_success(
    full_scenario: Scenario, providers: Providers
) -> None:
    await with_device(full_scenario)
    providers.native_faults.append(fault(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"))
    await push(full_scenario)
    for alert in await full_scenario.published("operations.alert_raised.v1"):
        await full_scenario.receive(msgspec.convert(alert, AlertRaised))
    assert await full_scenario.published("operations.alert_cleared.v1") == []
    await push(full_scenario)
    await push(full_scenario)
    [cleared] = await full_scenario.published("operations.alert_cleared.v1")
    assert cleared["dedupKey"] == "provider-account:fcm"


async def test_a_fault_of_the_project_pauses_pushes_with_one_alert(
    full_scenario: Scenario, providers: Providers
) -> None:
    await with_device(full_scenario)
    providers.native_faults += [fault(403, "PERMISSION_DENIED"), fault(403, "PERMISSION_DENIED")]
    await push(full_scenario)
    await push(full_scenario)
    assert len(providers.native_faults) == 1
    full_scenario.clock.advance(timedelta(seconds=16))
    await push(full_scenario)
    assert providers.native == []
    assert await devices(full_scenario) == 1
    [alert] = await full_scenario.published("operations.alert_raised.v1")
    assert (alert["dedupKey"], alert["severity"]) == ("provider-account:fcm android", "SEV-2")


async def test_a_fault_of_apple_s_key_does_not_stop_android(full_scenario: Scenario, providers: Providers) -> None:
    await with_device(full_scenario, kind="ios", token="token-of-an-iphone")
    providers.native_faults.append(fault(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"))
    await push(full_scenario)
    await full_scenario.register(full_scenario.buyer_id, kind="android", token="token-of-a-phone")
    await push(full_scenario)
    assert [one["message"]["token"] for one in providers.native] == ["token-of-a-phone"]


async def test_a_revoked_access_token_is_fetched_again(full_scenario: Scenario, providers: Providers) -> None:
    await with_device(full_scenario)
    providers.native_faults.append(fault(401, "UNAUTHENTICATED"))
    await push(full_scenario)
    assert [one["authorization"] for one in providers.native] == ["Bearer token-2"]
    assert await full_scenario.published("operations.alert_raised.v1") == []


async def test_a_rejected_service_account_alerts_once(full_scenario: Scenario, providers: Providers) -> None:
    await with_device(full_scenario)
    providers.token_faults.append(JSONResponse({"error": "invalid_grant", "error_description": "x"}, 400))
    await push(full_scenario)
    [alert] = await full_scenario.published("operations.alert_raised.v1")
    assert "invalid_grant" in alert["detail"]
    assert await devices(full_scenario) == 1


async def test_a_quota_pauses_pushes_for_its_reported_time(full_scenario: Scenario, providers: Providers) -> None:
    await with_device(full_scenario)
    providers.native_faults.append(fault(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", **{"Retry-After": "120"}))
    await push(full_scenario)
    full_scenario.clock.advance(timedelta(seconds=119))
    await push(full_scenario)
    assert providers.native == []
    full_scenario.clock.advance(timedelta(seconds=2))
    await push(full_scenario)
    assert len(providers.native) == 3
    assert await full_scenario.published("operations.alert_raised.v1") == []


async def test_an_invalid_token_removes_its_device(full_scenario: Scenario, providers: Providers) -> None:
    await with_device(full_scenario)
    body = {
        "error": {
            "code": 400,
            "message": "The registration token is not a valid FCM registration token",
            "status": "INVALID_ARGUMENT",
            "details": [{"@type": FCM_ERROR, "errorCode": "INVALID_ARGUMENT"}],
        }
    }
    providers.native_faults.append(JSONResponse(body, 400))
    await push(full_scenario)
    assert await devices(full_scenario) == 0
    assert await full_scenario.published("operations.alert_raised.v1") == []

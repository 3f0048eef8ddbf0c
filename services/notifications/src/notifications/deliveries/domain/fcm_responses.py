"""Errors of FCM HTTP v1, by what they mean for the device and the message (decision 43).

| Error | Meaning | Effect |
|---|---|---|
| `UNREGISTERED`, an invalid token | the app is gone | the device is removed |
| `SENDER_ID_MISMATCH` | the device registered with another project | the message fails, the device stays, an alert |
| `THIRD_PARTY_AUTH_ERROR`, `PERMISSION_DENIED`, 401, 403, another 404 | our project or account | pause, one alert |
| `QUOTA_EXCEEDED`, 429, `UNAVAILABLE`, 503, 5xx | busy | sent again, after its Retry-After |
| any other 4xx | the message is invalid | the message fails with an alert |
"""

from collections.abc import Mapping
from typing import Any, Final

from notifications.deliveries.domain.errors import (
    AccountFault,
    DeliveryError,
    DeviceOfOtherAccount,
    DeviceUnregistered,
    ProviderRejected,
    ProviderUnavailable,
)

_DEVICE_FIELD: Final = "message.token"
_DEVICE_WORDS: Final = "registration token"


def fcm_fault(
    provider: str, status: int, payload: Mapping[str, Any], retry_after_seconds: int | None = None
) -> DeliveryError:
    """Return the fault that a response without success reports. The reason holds neither token nor text."""
    given = payload.get("error")
    error = given if isinstance(given, dict) else {}
    details = error.get("details")
    listed = [one for one in (details if isinstance(details, list) else []) if isinstance(one, dict)]
    codes = {one["errorCode"] for one in listed if isinstance(one.get("errorCode"), str)}
    name = error.get("status") if isinstance(error.get("status"), str) else ""
    reason = " ".join(filter(None, (str(status), name, *sorted(codes - {name}))))[:200]
    if "UNREGISTERED" in codes:
        return DeviceUnregistered(provider, f"{reason}: the device is no longer registered")
    if _is_invalid_token(name, error, listed, codes):
        return DeviceUnregistered(provider, f"{reason}: the device token is invalid")
    if "SENDER_ID_MISMATCH" in codes:
        return DeviceOfOtherAccount(provider, f"{reason}: the device registered with another project")
    # 404 without a device: the project or the path is unknown.
    if status in (401, 403) or (status == 404 and name in ("", "NOT_FOUND")):
        return AccountFault(provider, reason)
    if 400 <= status < 500 and status not in (408, 429):
        return ProviderRejected(provider, reason)
    return ProviderUnavailable(provider, reason, retry_after_seconds=retry_after_seconds)


def _is_invalid_token(name: Any, error: Mapping[str, Any], details: list[dict[str, Any]], codes: set[str]) -> bool:
    """INVALID_ARGUMENT concerns the token only where the details name it; any other field is our mistake."""
    if name != "INVALID_ARGUMENT":
        return False
    violations = [one for detail in details for one in _list(detail.get("fieldViolations")) if isinstance(one, dict)]
    if violations:
        return all(one.get("field") == _DEVICE_FIELD for one in violations)
    message = error.get("message")
    return "INVALID_ARGUMENT" in codes and isinstance(message, str) and _DEVICE_WORDS in message.lower()


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []

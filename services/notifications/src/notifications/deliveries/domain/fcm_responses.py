"""Errors of FCM HTTP v1, by what they mean for the device and the message (decision 43).

| Error | Meaning | Effect |
|---|---|---|
| `UNREGISTERED`, an invalid token | the app is gone | the device is removed |
| `SENDER_ID_MISMATCH` | the device registered with another project | the message fails, the device stays, an alert |
| `THIRD_PARTY_AUTH_ERROR`, `PERMISSION_DENIED`, 401, 403, another 404 | our project or account | pause, one alert |
| `QUOTA_EXCEEDED`, 429, `UNAVAILABLE`, 503, 5xx | busy | sent again, after its Retry-After |
| any other 4xx | the message is invalid | the message fails with an alert |
"""

from typing import Final

import msgspec

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


class FieldViolation(msgspec.Struct, frozen=True):
    field: str = ""


class FcmErrorDetail(msgspec.Struct, frozen=True, rename="camel"):
    error_code: str = ""
    field_violations: list[FieldViolation] = []


class FcmError(msgspec.Struct, frozen=True):
    status: str = ""
    message: str = ""
    details: list[FcmErrorDetail] = []


class FcmResponse(msgspec.Struct, frozen=True):
    """`name` is FCM's id of an accepted message."""

    name: str = ""
    error: FcmError = FcmError()


def fcm_fault(provider: str, status: int, error: FcmError, retry_after_seconds: int | None = None) -> DeliveryError:
    """Return the fault that a response without success reports. The reason holds neither token nor text."""
    codes = {detail.error_code for detail in error.details} - {""}
    reason = " ".join(filter(None, (str(status), error.status, *sorted(codes - {error.status}))))[:200]
    if "UNREGISTERED" in codes:
        return DeviceUnregistered(provider, f"{reason}: the device is no longer registered")
    if _is_invalid_token(error, codes):
        return DeviceUnregistered(provider, f"{reason}: the device token is invalid")
    if "SENDER_ID_MISMATCH" in codes:
        return DeviceOfOtherAccount(provider, f"{reason}: the device registered with another project")
    # 404 without a device: the project or the path is unknown.
    if status in (401, 403) or (status == 404 and error.status in ("", "NOT_FOUND")):
        return AccountFault(provider, reason)
    if 400 <= status < 500 and status not in (408, 429):
        return ProviderRejected(provider, reason)
    return ProviderUnavailable(provider, reason, retry_after_seconds=retry_after_seconds)


def _is_invalid_token(error: FcmError, codes: set[str]) -> bool:
    """INVALID_ARGUMENT concerns the token only where the details name it; any other field is our mistake."""
    if error.status != "INVALID_ARGUMENT":
        return False
    if violations := [one for detail in error.details for one in detail.field_violations]:
        return all(one.field == _DEVICE_FIELD for one in violations)
    return "INVALID_ARGUMENT" in codes and _DEVICE_WORDS in error.message.lower()

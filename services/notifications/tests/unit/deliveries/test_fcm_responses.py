"""Errors of FCM: their meaning for the device and the message, in documented and odd shapes."""

import pytest

from common.primitives.json_records import read_record
from notifications.deliveries.domain.errors import (
    AccountFault,
    DeviceOfOtherAccount,
    DeviceUnregistered,
    ProviderRejected,
    ProviderUnavailable,
)
from notifications.deliveries.domain.fcm_responses import FcmError, FcmResponse, fcm_fault

FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


def error(status, name, *details, message="text"):
    return status, {"error": {"code": status, "message": message, "status": name, "details": list(details)}}


def fcm(code):
    return {"@type": FCM_ERROR, "errorCode": code}


def violation(*fields):
    return {"@type": BAD_REQUEST, "fieldViolations": [{"field": field, "description": "x"} for field in fields]}


@pytest.mark.parametrize(
    ("status", "payload", "expected"),
    [
        (*error(404, "NOT_FOUND", fcm("UNREGISTERED")), DeviceUnregistered),
        (
            *error(
                400,
                "INVALID_ARGUMENT",
                fcm("INVALID_ARGUMENT"),
                message="The registration token is not a valid FCM registration token",
            ),
            DeviceUnregistered,
        ),
        (*error(400, "INVALID_ARGUMENT", fcm("INVALID_ARGUMENT"), violation("message.token")), DeviceUnregistered),
        (*error(400, "INVALID_ARGUMENT", violation("message.data[0].value")), ProviderRejected),
        (
            *error(400, "INVALID_ARGUMENT", violation("message.token", "message.android.ttl"),
            message="registration token"),
            ProviderRejected,
        ),
        (*error(400, "INVALID_ARGUMENT", fcm("INVALID_ARGUMENT"), message="Message too big"), ProviderRejected),
        (*error(403, "PERMISSION_DENIED", fcm("SENDER_ID_MISMATCH")), DeviceOfOtherAccount),
        (*error(401, "UNAUTHENTICATED", fcm("THIRD_PARTY_AUTH_ERROR")), AccountFault),
        (*error(401, "UNAUTHENTICATED"), AccountFault),
        (*error(403, "PERMISSION_DENIED"), AccountFault),
        (*error(404, "NOT_FOUND"), AccountFault),
        (*error(429, "RESOURCE_EXHAUSTED", fcm("QUOTA_EXCEEDED")), ProviderUnavailable),
        (*error(503, "UNAVAILABLE", fcm("UNAVAILABLE")), ProviderUnavailable),
        (*error(500, "INTERNAL", fcm("INTERNAL")), ProviderUnavailable),
        (400, {}, ProviderRejected),
        (400, {"error": "text"}, ProviderRejected),
        (400, {"error": {"details": {"errorCode": "UNREGISTERED"}, "status": 7}}, ProviderRejected),
        (400, {"error": {"status": "INVALID_ARGUMENT", "details": [None, {"fieldViolations": "x"}, {"errorCode": []}]}},
            ProviderRejected),
        (302, {}, ProviderUnavailable),
    ],
)  # fmt: skip
def test_an_error_of_fcm_has_one_reading(status, payload, expected) -> None:
    assert type(fcm_fault("fcm", status, read_record(payload, FcmResponse).error)) is expected


def test_a_quota_keeps_its_retry_after() -> None:
    fault = fcm_fault("fcm", 429, FcmError(), retry_after_seconds=90)
    assert isinstance(fault, ProviderUnavailable)
    assert fault.retry_after_seconds == 90

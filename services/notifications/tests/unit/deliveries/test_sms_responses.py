"""Responses of the SMS companies: their meaning for a message, in every documented shape and in odd ones."""

import json
from typing import Any

import pytest

from notifications.deliveries.domain.errors import (
    AccountFault,
    DeliveryError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    RecipientUnreachable,
)
from notifications.deliveries.domain.sms_responses import SmsResponse, read_africas_talking, read_termii, read_twilio


def outcome(read, status, payload, retry_after_seconds=None):
    try:
        return read(SmsResponse("company", status, json.dumps(payload).encode(), retry_after_seconds))
    except (ProviderUnavailable, ProviderRejected) as fault:
        return type(fault)


def recipient(code, status, message_id="None"):
    return {
        "SMSMessageData": {
            "Message": "Sent",
            "Recipients": [
                {"statusCode": code, "status": status, "number": "+2", "cost": "0", "messageId": message_id}
            ],
        }
    }


@pytest.mark.parametrize(
    ("status", "payload", "expected"),
    [
        (
            200,
            {
                "code": "ok",
                "message_id": "3017544054459083819",
                "message": "Successfully Sent",
                "balance": 9.5,
                "user": "A",
            },
            "3017544054459083819",
        ),
        (200, {"message_id": 3017544054459083819, "message": "Successfully Sent"}, "3017544054459083819"),
        (200, {"message_id": None, "message_id_str": "77"}, "77"),
        (200, {"message": "Successfully Sent"}, ProviderTimeout),
        (200, {}, ProviderTimeout),
        (400, {"code": 400, "message": "Insufficient balance", "status": "error"}, AccountFault),
        (
            404,
            {"code": 404, "message": "ApplicationSenderId not found for applicationId: 7 and senderName: Campus"},
            AccountFault,
        ),
        (400, {"message": [{"issue": "ApplicationSenderId not found"}]}, AccountFault),
        (400, {"message": "Sender ID not allowed for this phone number"}, AccountFault),
        (400, {"message": "Sender ID not whitelisted for DND"}, AccountFault),
        (400, {"message": "Your account is not active"}, AccountFault),
        (400, {"message": "You are not set up on this route"}, AccountFault),
        (400, {"message": "Country Inactive. Contact Administrator to activate country."}, AccountFault),
        (401, {"message": "Invalid API key"}, AccountFault),
        (403, {}, AccountFault),
        (404, {}, AccountFault),
        (400, {"message": "Invalid phone number"}, RecipientUnreachable),
        (400, {"message": "DND Active on Phone Number"}, RecipientUnreachable),
        (422, {"message": "The sms field is required"}, ProviderRejected),
        (400, {"message": {"sms": ["x"]}}, ProviderRejected),
        (400, {"message": [7, None, {"issue": 7}]}, ProviderRejected),
        (429, {"message": "Too Many Requests"}, ProviderUnavailable),
        (503, {}, ProviderUnavailable),
        (500, {}, ProviderTimeout),
        (504, {}, ProviderTimeout),
    ],
)
def test_a_response_of_termii_has_one_reading(status: int, payload: dict[str, Any], expected) -> None:
    assert outcome(read_termii, status, payload) == expected


@pytest.mark.parametrize(
    ("status", "payload", "expected"),
    [
        (201, recipient(100, "Processed", "ATXid_1"), "ATXid_1"),
        (201, recipient(101, "Success", "ATXid_1"), "ATXid_1"),
        (201, recipient(102, "Queued", "ATXid_1"), "ATXid_1"),
        (201, recipient("101", "Success", "ATXid_1"), "ATXid_1"),
        (201, recipient(101, "Success"), ProviderTimeout),
        (201, recipient(401, "RiskHold"), AccountFault),
        (201, recipient(402, "InvalidSenderId"), AccountFault),
        (201, recipient(403, "InvalidPhoneNumber"), RecipientUnreachable),
        (201, recipient(404, "UnsupportedNumberType"), RecipientUnreachable),
        (201, recipient(405, "InsufficientBalance"), AccountFault),
        (201, recipient(406, "UserInBlacklist"), RecipientUnreachable),
        (201, recipient(407, "CouldNotRoute"), ProviderUnavailable),
        (201, recipient(409, "DoNotDisturbRejection"), RecipientUnreachable),
        (409, recipient(409, "DoNotDisturbRejection"), RecipientUnreachable),
        (201, recipient(500, "InternalServerError"), ProviderTimeout),
        (201, recipient(501, "GatewayError"), ProviderUnavailable),
        (201, recipient(502, "RejectedByGateway"), ProviderUnavailable),
        (201, recipient(999, "Else"), ProviderRejected),
        (201, recipient(None, None), ProviderTimeout),
        (201, {"SMSMessageData": {"Message": "InvalidSenderId", "Recipients": []}}, AccountFault),
        (201, {"SMSMessageData": {"Message": "Sent to 0/1 Total Cost: 0", "Recipients": []}}, ProviderUnavailable),
        (201, {"SMSMessageData": {"Message": None, "Recipients": None}}, ProviderTimeout),
        (201, {"SMSMessageData": []}, ProviderTimeout),
        (201, {"SMSMessageData": {"Recipients": ["x"]}}, ProviderTimeout),
        (201, {}, ProviderTimeout),
        (400, {}, ProviderRejected),
        (401, {}, AccountFault),
        (500, {}, ProviderTimeout),
        (503, {}, ProviderUnavailable),
    ],
)
def test_a_response_of_africas_talking_has_one_reading(status: int, payload, expected) -> None:
    assert outcome(read_africas_talking, status, payload) == expected


def error(code, status=400):
    return status, {
        "code": code,
        "message": "text",
        "more_info": "https://www.twilio.com/docs/errors/1",
        "status": status,
    }


@pytest.mark.parametrize(
    ("status", "payload", "expected"),
    [
        (201, {"sid": "SM1", "status": "queued", "error_code": None, "price": None, "num_segments": "1"}, "SM1"),
        (201, {"sid": "SM1", "status": "accepted"}, "SM1"),
        (201, {"sid": "SM1", "status": None}, "SM1"),
        (201, {"sid": "SM1", "status": "failed", "error_code": 30034, "error_message": "Unregistered"}, AccountFault),
        (201, {"sid": "SM1", "status": "undelivered", "error_code": "30005"}, RecipientUnreachable),
        (201, {"sid": "SM1", "status": "failed", "error_code": None}, ProviderRejected),
        (201, {"sid": None}, ProviderTimeout),
        (*error(20003, 401), AccountFault),
        (*error(20005, 401), AccountFault),
        (*error(20404, 404), AccountFault),
        (*error(21408), AccountFault),
        (*error(21606), AccountFault),
        (*error(30002), AccountFault),
        (*error(21211), RecipientUnreachable),
        (*error(21610), RecipientUnreachable),
        (*error("21614"), RecipientUnreachable),
        (*error(21611, 429), ProviderUnavailable),
        (*error(20429, 429), ProviderUnavailable),
        (*error(21620), ProviderRejected),
        (*error(None), ProviderRejected),
        (*error([1]), ProviderRejected),
        (500, {}, ProviderTimeout),
        (503, {"code": 20503}, ProviderUnavailable),
    ],
)
def test_a_response_of_twilio_has_one_reading(status, payload, expected) -> None:
    assert outcome(read_twilio, status, payload) == expected


def test_a_rate_limit_keeps_its_retry_after() -> None:
    with pytest.raises(ProviderUnavailable) as fault:
        read_twilio(SmsResponse("company", 429, b'{"code": 20429}', retry_after_seconds=40))
    assert fault.value.retry_after_seconds == 40


@pytest.mark.parametrize(
    ("read", "payload"),
    [
        (read_termii, {"message": "Sender not allowed for 2348031234567"}),
        (read_termii, {"message": [{"issue": "Sender not allowed for 2348031234567"}]}),
        (read_africas_talking, {"SMSMessageData": {"Message": "InvalidSenderId for +2348031234567"}}),
        (read_africas_talking, {"SMSMessageData": {"Recipients": [{"statusCode": 403, "status": "2348031234567"}]}}),
        (read_twilio, {"code": 21211, "message": "x" * 190 + "2348031234567"}),
    ],
)
def test_no_reason_contains_the_number(read, payload) -> None:
    with pytest.raises(DeliveryError) as fault:
        read(SmsResponse("company", 400, json.dumps(payload).encode(), number="2348031234567"))
    assert "23480" not in str(fault.value)
    assert "*" in str(fault.value)

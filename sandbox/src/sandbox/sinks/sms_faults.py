"""The faults of the SMS companies by name, each in the company's own words. Any other text is a rejection of the
gateway.
"""

from typing import NamedTuple


class SmsFault(NamedTuple):
    """HTTP status and text of Termii, code of Africa's Talking, HTTP status, code and text of Twilio."""

    termii: tuple[int, str]
    africas_talking: int
    twilio: tuple[int, int, str]


_UNREGISTERED = "ApplicationSenderId not found for applicationId: 1 and senderName: Campus"

SMS_FAULTS = {
    "InsufficientBalance": SmsFault((400, "Insufficient balance"), 405, (401, 20005, "Account not active")),
    "InvalidSenderId": SmsFault(
        (404, _UNREGISTERED), 402, (400, 21606, "The 'From' number is not valid for this account")
    ),
    "RiskHold": SmsFault((400, "Your account is not active"), 401, (401, 20003, "Authenticate")),
    "InvalidPhoneNumber": SmsFault((400, "Invalid phone number"), 403, (400, 21211, "Invalid 'To' Phone Number")),
    "DoNotDisturbRejection": SmsFault(
        (400, "DND Active on Phone Number"), 409, (400, 21610, "Attempt to send to unsubscribed recipient")
    ),
    "CouldNotRoute": SmsFault(
        (503, "Route is unavailable"), 407, (400, 21611, "The 'From' number has too many messages")
    ),
}


def termii_fault(status: int, reason: str) -> tuple[int, str]:
    return SMS_FAULTS[reason].termii if reason in SMS_FAULTS else (status, reason)


def africas_talking_code(reason: str) -> int:
    return SMS_FAULTS[reason].africas_talking if reason in SMS_FAULTS else 502


def twilio_fault(status: int, reason: str) -> tuple[int, int, str]:
    """Return the HTTP status, code and text; a number is the code itself."""
    if reason in SMS_FAULTS:
        return SMS_FAULTS[reason].twilio
    return status, int(reason) if reason.isascii() and reason.isdigit() else 20500 if status >= 500 else 21620, reason

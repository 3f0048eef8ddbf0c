"""Errors of the messaging app's cloud API, in responses and in failed statuses."""

from typing import Any

from starlette.responses import Response

from sandbox.gateway.codes import new_code
from sandbox.web import JsonResponse

HREF = "https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes"
# HTTP status and title by code; a fault names a code to have this error.
ERRORS: dict[int, tuple[int, str]] = {
    4: (400, "Application request limit reached"),
    10: (403, "Application does not have permission for this action"),
    100: (400, "Invalid parameter"),
    190: (401, "Invalid OAuth access token"),
    368: (403, "Temporarily blocked for policies violations"),
    130429: (400, "Rate limit hit"),
    130472: (400, "User's number is part of an experiment"),
    130497: (403, "Business account is restricted from messaging users in this country"),
    131000: (500, "Something went wrong"),
    131005: (403, "Access denied"),
    131009: (400, "Parameter value is not valid"),
    131016: (500, "Service unavailable"),
    131026: (400, "Message undeliverable"),
    131031: (403, "Account has been locked"),
    131042: (400, "Business eligibility payment issue"),
    131047: (400, "Re-engagement message"),
    131049: (400, "Meta chose not to deliver"),
    131051: (400, "Unsupported message type"),
    131056: (400, "Pair rate limit hit"),
    131062: (400, "Business-scoped user ids are not supported for this message"),
    132000: (400, "Number of parameters does not match the expected number of params"),
    132001: (404, "Template name does not exist in the translation"),
    132015: (400, "Template is paused"),
    132016: (400, "Template is disabled"),
    133010: (400, "Phone number is not registered"),
}
UNDELIVERABLE = 131026


def refuse(status: int, message: str) -> Response:
    """Return an error. A message of digits is a code of the table; another is the detail of the status's own code."""
    if message.isascii() and message.isdigit():
        return refuse_code(int(message))
    code = {400: UNDELIVERABLE, 401: 190}.get(status, 131000)
    return _error(status, code, message, message)


def refuse_code(code: int, details: str | None = None) -> Response:
    status, title = ERRORS.get(code, (400, "Unknown error"))
    return _error(status, code, f"(#{code}) {title}", details or title)


def refuse_parameter(message: str, *, subcode: int | None = None, title: str = "", sentence: str = "") -> Response:
    """Return the error of a parameter or of a template's content, in the Graph API's form."""
    error: dict[str, Any] = {
        "message": message,
        "type": "OAuthException",
        "code": 100,
        "fbtrace_id": new_code(length=11),
    }
    if subcode is not None:
        error |= {
            "error_subcode": subcode,
            "is_transient": False,
            "error_user_title": title,
            "error_user_msg": sentence,
        }
    return JsonResponse({"error": error}, 400)


def reported_error(reason: str) -> dict[str, Any]:
    """Return the error of a failed status; a reason of digits is a code of the table."""
    code = int(reason) if reason.isascii() and reason.isdigit() else UNDELIVERABLE
    title = ERRORS[code][1] if code in ERRORS else reason
    details = title if reason.isdigit() else reason
    return {"code": code, "title": title, "message": title, "error_data": {"details": details}, "href": HREF}


def _error(status: int, code: int, message: str, details: str) -> Response:
    error = {
        "message": message,
        "type": "OAuthException",
        "code": code,
        "error_data": {"messaging_product": "whatsapp", "details": details},
        "fbtrace_id": new_code(length=11),
    }
    return JsonResponse({"error": error}, status)

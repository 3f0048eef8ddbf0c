"""The pages of the `type` of a problem document: meaning and advice of each error code."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from api_gateway.frame import code as code_of
from api_gateway.frame import page, prose, table
from common.primitives.json_records import JsonObject
from common.primitives.problems import TITLES, Code, slug_of


@dataclass(frozen=True, slots=True)
class _CodeExplanation:
    """A code's meaning, statuses, usual causes, and advice for clients."""

    meaning: str
    statuses: Sequence[int]
    causes: Sequence[str]
    advice: str
    detail: str
    instance: str
    more: JsonObject = field(default_factory=dict)
    invalid_params: Sequence[Mapping[str, str]] = ()


EXPLAINED: Final[Mapping[Code, _CodeExplanation]] = {
    "AUTH_UNAUTHORIZED": _CodeExplanation(
        "The request carries no Bearer token, or one that is malformed, badly signed, or of an ended session.",
        (401,),
        (
            "No Authorization header, or two of them.",
            "A logout, a suspension or a change of role ended the session.",
            "A function or a webhook without its service key or signature.",
        ),
        (
            "Sign in and send the access token as Authorization: Bearer <token>. Do not repeat the request with the "
            "same token."
        ),
        "A valid Bearer token is required.",
        "/api/orders",
    ),
    "AUTH_TOKEN_EXPIRED": _CodeExplanation(
        "The access token is valid, but expired.",
        (401,),
        ("More than the token's `expiresIn` seconds have passed.", "The client's clock is slow."),
        "Exchange the refresh token at POST /api/auth/refresh and send the request again, once.",
        "The token has expired. Refresh it and try again.",
        "/api/orders",
    ),
    "AUTH_FORBIDDEN": _CodeExplanation(
        "Your role does not permit this operation.",
        (403,),
        (
            "The operation needs a permission that none of your roles has; the API reference names it.",
            "Maker and checker must be different people.",
            "The account has no profile yet.",
        ),
        "Ask for the role, or ask a colleague who has it. A retry does not help.",
        "Your role does not permit this.",
        "/api/payouts/dispatch",
    ),
    "AUTH_AAL2_REQUIRED": _CodeExplanation(
        "This operation needs a second factor that was shown within the last 15 minutes.",
        (403,),
        ("Signed in with a password alone.", "The second factor was shown more than 15 minutes ago."),
        "Verify a code at POST /api/auth/mfa/verify and repeat the request with the new token.",
        "This needs a two-factor sign-in not older than 15 minutes.",
        "/api/payouts/dispatch",
    ),
    "VALIDATION_FAILED": _CodeExplanation(
        "The body, a parameter or a header does not match the operation. `invalid_params` names the offending ones.",
        (405, 413, 414, 415, 422, 431),
        (
            "A field is missing, unknown, of another type, or outside its range.",
            "Idempotency-Key is absent where it is required, not a UUID v4, or was used for another request.",
            "A cursor was changed, or belongs to another list.",
            "The body is not JSON, is compressed or too large, or the path does not support the method.",
        ),
        "Correct the request as the API reference describes. An unchanged retry fails again.",
        "quantity: Input should be greater than or equal to 1",
        "/api/orders/checkout",
        invalid_params=({"name": "quantity", "reason": "Input should be greater than or equal to 1"},),
    ),
    "RESOURCE_NOT_FOUND": _CodeExplanation(
        "The path or resource does not exist, or it is not visible to you. The responses are identical.",
        (404,),
        ("The id is wrong, or not a UUID.", "The resource belongs to another user.", "The operation was withdrawn."),
        "Check the path and the id, and that you are signed in as the right account.",
        "There is no such resource.",
        "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47",
    ),
    "CONCURRENCY_CONFLICT": _CodeExplanation(
        (
            "The current state does not allow this: it has changed since you read it, or the same operation is in "
            "progress."
        ),
        (409,),
        (
            "The order, payout or ticket is in a state that does not allow this transition.",
            "The revision that was sent is stale.",
            "The price has moved from `expectedTotalMinor`.",
            "The first request with the same Idempotency-Key is still running.",
        ),
        (
            "Read the resource again and decide on its current state. With Retry-After: wait and repeat the same "
            "request under the same key."
        ),
        "The resource has changed since you read it. Read it again.",
        "/api/products/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47",
    ),
    "ESCROW_LOCKED": _CodeExplanation(
        "The money is held in escrow and cannot be moved yet.",
        (423,),
        (
            "A payout asks for more than the wallet has available, while the rest is held for undelivered orders.",
            "The order is disputed: its money is frozen until staff decide.",
        ),
        "Wait until the delivery is proven or decided, or ask for no more than `availableMinor` of the wallet.",
        "Part of the amount is still held in escrow.",
        "/api/payouts",
    ),
    "ESCROW_BALANCE_DEFICIT": _CodeExplanation(
        "The amount exceeds what the order still holds in escrow.",
        (409,),
        ("Part was released or refunded before.", "The amount was given in naira instead of kobo, or the reverse."),
        "Read the remaining amount and ask for no more than that. Amounts are in kobo.",
        "More than is locked in escrow cannot be released.",
        "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47/release",
        invalid_params=({"name": "amountMinor", "reason": "exceeds what is locked"},),
    ),
    "DELIVERY_PIN_INVALID": _CodeExplanation(
        "The delivery PIN is wrong. `attemptsRemaining` is the number of remaining tries.",
        (400,),
        ("A digit was misread.", "The buyer requested a new PIN, which invalidated the older one."),
        "Ask the buyer for the PIN again; after five wrong tries by anyone, the buyer must request a new one.",
        "The delivery PIN is wrong.",
        "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47/verify-delivery",
        more={"attemptsRemaining": 4},
    ),
    "RATE_LIMIT_EXCEEDED": _CodeExplanation(
        "The quota of this minute, or the number of tries, is used up.",
        (429,),
        (
            "More requests within 60 seconds than RateLimit-Limit.",
            "Five wrong delivery PINs: the PIN is locked until the buyer requests a new one.",
        ),
        (
            "Wait for the seconds in Retry-After. RateLimit-Remaining shows what is left beforehand. The idempotency "
            "key stays unused."
        ),
        "Too many requests. Wait and try again.",
        "/api/payments/intent",
    ),
    "INTERNAL_ERROR": _CodeExplanation(
        "An internal error, or a part of the system is unavailable. `correlationId` finds it in our logs.",
        (500, 503),
        ("A service or its database is temporarily unavailable (503).", "A defect of the server (500)."),
        (
            "With Retry-After: wait and repeat the request, a POST under the same Idempotency-Key. Otherwise report "
            "the id."
        ),
        "The service is temporarily unavailable. Try again.",
        "/api/orders/checkout",
        more={"correlationId": "req_4f9c2a7b8e1d4c6fa0b3"},
    ),
}


def problem_page(code: Code) -> str:
    """Return the HTML page of one code."""
    explained = EXPLAINED[code]
    causes = "".join(f"<li>{prose(cause)}</li>" for cause in explained.causes)
    return page(
        code,
        f"<h1>{escape(TITLES[code])}</h1><p>{code_of(code)}, status "
        f"{_statuses(explained)}</p><p>{prose(explained.meaning)}</p>"
        f"<h2>Typical causes</h2><ul>{causes}</ul><h2>What to do</h2><p>{prose(explained.advice)}</p>"
        f'<h2>Example</h2><pre tabindex="0">{escape(json.dumps(_example(code, explained), indent=2))}</pre>',
        current="/errors",
    )


def problem_index() -> str:
    """Return the HTML page that lists the codes."""
    rows = [
        (f'<a href="/errors/{slug_of(code)}">{code_of(code)}</a>', _statuses(explained), prose(explained.meaning))
        for code, explained in EXPLAINED.items()
    ]
    return page(
        "Errors",
        "<h1>Errors</h1><p>Every error is <code>application/problem+json</code> (RFC 7807) with one of these codes.</p>"
        + table(("Code", "Status", "Meaning"), rows),
        current="/errors",
    )


def _example(code: Code, explained: _CodeExplanation) -> JsonObject:
    return {
        "type": f"/errors/{slug_of(code)}",
        "title": TITLES[code],
        "status": explained.statuses[-1] if code != "VALIDATION_FAILED" else 422,
        "detail": explained.detail,
        "instance": explained.instance,
        "code": code,
        "invalid_params": [{**param} for param in explained.invalid_params],
        "requestId": "req_4f9c2a7b8e1d4c6fa0b3",
        **explained.more,
    }


def _statuses(explained: _CodeExplanation) -> str:
    return ", ".join(str(status) for status in explained.statuses)

"""The page behind the `type` of a problem document: what each of the specification's twelve codes means and what to do."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from common.primitives.problems import TITLES, Code, slug_of


@dataclass(frozen=True, slots=True)
class _Explained:
    """One code: what it means, the statuses that carry it, what usually brings it about, what a client should do."""

    meaning: str
    statuses: Sequence[int]
    causes: Sequence[str]
    advice: str
    detail: str
    instance: str
    more: Mapping[str, Any] = field(default_factory=dict)
    invalid_params: Sequence[Mapping[str, str]] = ()


EXPLAINED: Final[Mapping[Code, _Explained]] = {
    "AUTH_UNAUTHORIZED": _Explained(
        "The request carries no Bearer token, or one that is malformed, badly signed, or of a session that was ended.",
        (401,),
        (
            "No Authorization header, or two of them.",
            "The session was ended by a log-out, a suspension or a change of role.",
            "A function or a webhook without its service key or signature.",
        ),
        "Sign in and send the access token as Authorization: Bearer <token>. Do not repeat the request with the same token.",
        "A valid Bearer token is required.",
        "/api/orders",
    ),
    "AUTH_TOKEN_EXPIRED": _Explained(
        "The access token is genuine, but past its time.",
        (401,),
        ("More than the token's `expiresIn` seconds have gone by.", "The client's clock is slow."),
        "Exchange the refresh token at POST /api/auth/refresh and send the request again, once.",
        "The token has expired. Refresh it and try again.",
        "/api/orders",
    ),
    "AUTH_FORBIDDEN": _Explained(
        "Your role does not permit this operation.",
        (403,),
        (
            "The operation needs a permission that none of your roles has; the API reference names it.",
            "Maker and checker must be two people.",
            "The account has no profile yet.",
        ),
        "Ask for the role, or let somebody who has it do it. Repeating the request changes nothing.",
        "Your role does not permit this.",
        "/api/payouts/dispatch",
    ),
    "AUTH_AAL2_REQUIRED": _Explained(
        "This operation needs a second factor that was shown within the last 15 minutes.",
        (403,),
        ("Signed in with a password alone.", "The second factor was shown more than 15 minutes ago."),
        "Verify a code at POST /api/auth/mfa/verify and repeat the request with the token that it answers with.",
        "This needs a two-factor sign-in not older than 15 minutes.",
        "/api/payouts/dispatch",
    ),
    "VALIDATION_FAILED": _Explained(
        "The body, a parameter or a header is not what the operation takes. `invalid_params` names the offending ones.",
        (405, 413, 414, 415, 422, 431),
        (
            "A field is missing, unknown, of another type, or outside its range.",
            "Idempotency-Key is absent where it is required, no UUID v4, or was used for another request.",
            "A cursor was changed, or belongs to another list.",
            "The body is no JSON, compressed, or too large; the path does not know the method.",
        ),
        "Correct the request; the API reference shows the shapes. Repeating it unchanged fails again.",
        "quantity: Input should be greater than or equal to 1",
        "/api/orders/checkout",
        invalid_params=({"name": "quantity", "reason": "Input should be greater than or equal to 1"},),
    ),
    "RESOURCE_NOT_FOUND": _Explained(
        "There is no such path or resource, or it is not visible to you. The two look the same.",
        (404,),
        ("The id is wrong, or no UUID.", "The resource belongs to somebody else.", "The operation was withdrawn."),
        "Check the path and the id, and that you are signed in as the right account.",
        "There is no such resource.",
        "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47",
    ),
    "CONCURRENCY_CONFLICT": _Explained(
        "The present state does not allow this: it has changed since you read it, or the same operation is under way.",
        (409,),
        (
            "The order, payout or ticket is in a state from which this is no move.",
            "The revision that was sent is stale.",
            "The price has moved from `expectedTotalMinor`.",
            "The first request under the same Idempotency-Key still runs.",
        ),
        "Read the resource again, and decide anew. With Retry-After: wait and repeat the same request under the same key.",
        "The resource has changed since you read it. Read it again.",
        "/api/products/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47",
    ),
    "ESCROW_LOCKED": _Explained(
        "The money is held in escrow and cannot be moved yet.",
        (423,),
        (
            "A payout asks for more than the wallet has available, while the rest is held for orders on their way.",
            "The order is disputed: its money is frozen until staff decide.",
        ),
        "Wait until the delivery is proven or decided, or ask for no more than `availableMinor` of the wallet.",
        "Part of the amount is still held in escrow.",
        "/api/payouts",
    ),
    "ESCROW_BALANCE_DEFICIT": _Explained(
        "More was to be released than the order still holds in escrow.",
        (409,),
        ("Part was released or refunded before.", "The amount was given in naira instead of kobo, or the reverse."),
        "Read the remaining amount and ask for no more than that. Amounts are in kobo.",
        "More than is locked in escrow cannot be released.",
        "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47/release",
        invalid_params=({"name": "amountMinor", "reason": "exceeds what is locked"},),
    ),
    "DELIVERY_PIN_INVALID": _Explained(
        "The delivery PIN is wrong. `attemptsRemaining` tells how many tries are left.",
        (400,),
        ("A digit was misread.", "The buyer had a new PIN sent, which ended the older one."),
        "Ask the buyer for the PIN again; after five wrong tries, whoever made them, the buyer has it reissued.",
        "The delivery PIN is wrong.",
        "/api/orders/018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47/verify-delivery",
        more={"attemptsRemaining": 4},
    ),
    "RATE_LIMIT_EXCEEDED": _Explained(
        "The quota of this minute, or the number of tries, is used up.",
        (429,),
        (
            "More requests within 60 seconds than RateLimit-Limit tells.",
            "Five wrong delivery PINs: the PIN is locked until the buyer has it reissued.",
        ),
        "Wait for the seconds in Retry-After. RateLimit-Remaining shows what is left beforehand. No idempotency key is used up.",
        "Too many requests. Wait and try again.",
        "/api/payments/intent",
    ),
    "INTERNAL_ERROR": _Explained(
        "Something failed on our side, or a part of the system is away. `correlationId` finds it in our logs.",
        (500, 503),
        ("A service or its database is away for the moment (503).", "A mistake of ours (500)."),
        "With Retry-After: wait and repeat the request, a POST under the same Idempotency-Key. Otherwise report the id.",
        "The service is not available for the moment. Try again.",
        "/api/orders/checkout",
        more={"correlationId": "req_4f9c2a7b8e1d4c6fa0b3"},
    ),
}


def problem_page(code: Code) -> str:
    """The HTML page of one code."""
    told = EXPLAINED[code]
    causes = "".join(f"<li>{_prose(cause)}</li>" for cause in told.causes)
    return _page(
        code,
        f"<h1>{escape(TITLES[code])}</h1><p><code>{code}</code>, status {_statuses(told)}</p><p>{_prose(told.meaning)}</p>"
        f"<h2>Typical causes</h2><ul>{causes}</ul><h2>What to do</h2><p>{_prose(told.advice)}</p>"
        f"<h2>Example</h2><pre>{escape(json.dumps(_example(code, told), indent=2))}</pre>",
    )


def problem_index() -> str:
    """The HTML page that lists the codes."""
    lines = "".join(
        f'<tr><td><a href="/errors/{slug_of(code)}"><code>{code}</code></a></td><td>{_statuses(told)}</td>'
        f"<td>{_prose(told.meaning)}</td></tr>"
        for code, told in EXPLAINED.items()
    )
    return _page(
        "Errors",
        "<h1>Errors</h1><p>Every refusal is <code>application/problem+json</code> (RFC 7807) with one of these codes.</p>"
        f"<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead><tbody>{lines}</tbody></table>",
    )


def _example(code: Code, told: _Explained) -> dict[str, Any]:
    return {
        "type": f"/errors/{slug_of(code)}",
        "title": TITLES[code],
        "status": told.statuses[-1] if code != "VALIDATION_FAILED" else 422,
        "detail": told.detail,
        "instance": told.instance,
        "code": code,
        "invalid_params": list(told.invalid_params),
        "requestId": "req_4f9c2a7b8e1d4c6fa0b3",
        **told.more,
    }


def _statuses(told: _Explained) -> str:
    return ", ".join(str(status) for status in told.statuses)


def _prose(text: str) -> str:
    """Escaped, with what stands between backquotes as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))


def _page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="/docs/docs.css"></head><body>'
        '<nav class="documents"><a href="/docs">API reference</a> <a href="/events">Events</a> <a href="/errors">Errors</a></nav>'
        f"<main>{body}</main></body></html>"
    )

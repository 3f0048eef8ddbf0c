"""The page behind the `type` of a problem document: what each of the specification's twelve codes means and what to do."""

from collections.abc import Mapping
from html import escape
from typing import Final

from common.problems import TITLES, Code

_MEANINGS: Final[Mapping[Code, tuple[str, str]]] = {
    "AUTH_UNAUTHORIZED": (
        "The request carries no Bearer token, or one that is malformed, badly signed, or of a session that was ended.",
        "Sign in and send the access token in the Authorization header.",
    ),
    "AUTH_TOKEN_EXPIRED": (
        "The access token is genuine, but past its time.",
        "Exchange the refresh token at POST /api/auth/refresh and send the request again.",
    ),
    "AUTH_FORBIDDEN": (
        "Your role does not permit this operation.",
        "Ask for the role, or let somebody who has it do it.",
    ),
    "AUTH_AAL2_REQUIRED": (
        "This operation needs a second factor that was shown within the last 15 minutes.",
        "Verify a code at POST /api/auth/mfa/verify and use the token that it answers with.",
    ),
    "VALIDATION_FAILED": (
        "The body, a parameter or a header is not what the operation takes. `invalid_params` names the offending ones.",
        "Correct the request; the API reference shows the shapes.",
    ),
    "RESOURCE_NOT_FOUND": (
        "There is no such path or resource, or it is not visible to you. The two look the same.",
        "Check the path and the id.",
    ),
    "CONCURRENCY_CONFLICT": (
        "The present state does not allow this: it has changed since you read it, or the same operation is under way.",
        "Read the resource again, and decide anew. With Retry-After: wait and repeat the same request.",
    ),
    "ESCROW_LOCKED": (
        "The money is held in escrow and cannot be moved yet.",
        "Wait until the delivery is proven or decided.",
    ),
    "ESCROW_BALANCE_DEFICIT": (
        "More was to be released than the order still holds in escrow.",
        "Read the remaining amount and ask for no more than that. Amounts are in kobo.",
    ),
    "DELIVERY_PIN_INVALID": (
        "The delivery PIN is wrong. `attemptsRemaining` tells how many tries are left.",
        "Ask the buyer for the PIN again; after five wrong tries the buyer has it reissued.",
    ),
    "RATE_LIMIT_EXCEEDED": (
        "The quota of this minute, or the number of tries, is used up.",
        "Wait for the seconds in Retry-After. RateLimit-Remaining shows what is left beforehand.",
    ),
    "INTERNAL_ERROR": (
        "Something failed on our side, or a part of the system is away. `correlationId` finds it in our logs.",
        "With Retry-After: wait and repeat the request, a POST under the same Idempotency-Key. Otherwise report the id.",
    ),
}


def problem_page(code: Code) -> str:
    """The HTML page of one code."""
    meaning, advice = _MEANINGS[code]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{code}</title><link rel="stylesheet" href="/docs/docs.css"></head><body><main>'
        f"<h1>{escape(TITLES[code])}</h1><p><code>{code}</code></p><p>{escape(meaning)}</p>"
        f'<p>{escape(advice)}</p><p><a href="/docs">API reference</a></p></main></body></html>'
    )
